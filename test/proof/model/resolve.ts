// Turns a drawn command into an operation with existing etags, uploads and cursors of the model.
import { hashBytes } from "../../../src/model/checksums/hashes.ts";
import type { ObjectRecord } from "../../../src/model/object.ts";
import { bytesOf } from "../../support/bodies.ts";
import { customerKeys, type Operation, type UploadName } from "./operation.ts";
import { resolveS3 } from "./resolve-s3.ts";
import { bodyValue } from "./s3.ts";
import { resolveVersions } from "./versions/resolve.ts";
import { isOnVersions, type WantedVersionCommand } from "./versions/wanted.ts";
import type {
  Secret,
  Wanted,
  WantedBody,
  WantedCondition,
  WantedPage,
  WantedRange,
  WantedRead,
  WantedUpload,
  WantedWrite,
} from "./wanted.ts";
import type { KnownUpload, World } from "./world.ts";

/** A drawn command of any kind. */
export type AnyWanted = Wanted | WantedVersionCommand;

export async function resolve(world: World, drawn: AnyWanted): Promise<Operation> {
  if (drawn.do === "sweep") return { do: "sweep" };
  if (isOnVersions(drawn)) return resolveVersions(world, drawn);
  const wanted = await withKeyThatIsThere(world, drawn);
  const isForS3 =
    wanted.do === "lifecycle" ||
    wanted.do === "copy" ||
    wanted.face === "s3" ||
    (wanted.do === "list" && wanted.kind !== "objects");
  return isForS3 ? resolveS3(world, wanted) : resolveBinding(world, wanted);
}

async function withKeyThatIsThere<T extends Exclude<Wanted, { do: "sweep" }>>(
  world: World,
  wanted: T,
): Promise<T> {
  if (wanted.do === "copy") return { ...wanted, from: await world.keyThatIsThere(wanted.from) };
  if ((wanted.do !== "get" && wanted.do !== "head") || !wanted.isThere) return wanted;
  return { ...wanted, key: await world.keyThatIsThere(wanted.key) };
}

type ForBinding = Exclude<Wanted, { do: "sweep" | "lifecycle" | "copy" }>;

async function resolveBinding(world: World, wanted: ForBinding): Promise<Operation> {
  switch (wanted.do) {
    case "head":
      return { do: "head", key: wanted.key };
    case "get":
      return { do: "get", key: wanted.key, by: wanted.by, options: await readOptions(world, wanted) };
    case "put":
    case "create upload": {
      const { key, body } = wanted;
      const options = writeOptions(wanted);
      if (wanted.do === "create upload") return { do: "create upload", key, options };
      const { condition } = await conditionOptions(world, key, wanted.condition);
      return { do: "put", key, body, options: { ...options, ...condition, ...checksumOption(wanted) } };
    }
    case "delete":
      return { do: "delete", keys: wanted.keys.length === 1 ? wanted.keys[0]! : wanted.keys };
    case "list":
      return { do: "list", options: listOptions(world, wanted) };
    case "upload part": {
      const upload = await chosenUpload(world, wanted.upload);
      const ssecKey = givenKey(wanted.secret, upload.ssecKey);
      const { number, body } = wanted;
      return { do: "upload part", upload: nameOf(upload), number, body, ...(ssecKey && { ssecKey }) };
    }
    case "complete": {
      const upload = await chosenUpload(world, wanted.upload);
      const parts = chosenParts(upload, wanted.parts);
      return {
        do: "complete",
        upload: nameOf(upload),
        parts: parts.map(([partNumber, etag]) => ({ partNumber, etag })),
      };
    }
    case "abort":
      return { do: "abort", upload: nameOf(await chosenUpload(world, wanted.upload)) };
  }
}

/** Returns the chosen upload; if no upload exists yet, one that was never created. */
export async function chosenUpload(world: World, { isActive, back }: WantedUpload): Promise<KnownUpload> {
  const active = isActive ? await world.activeUploads() : undefined;
  const found = world.uploads.filter(({ id }) => active?.has(id) ?? true);
  const uploads = found.length > 0 ? found : world.uploads;
  return uploads.at(-1 - (back % Math.max(1, uploads.length))) ?? neverMade;
}

const neverMade: KnownUpload = {
  key: "a",
  id: "0".repeat(32),
  ssecKey: undefined,
  algorithm: undefined,
  parts: new Map(),
};

function nameOf({ key, id }: KnownUpload): UploadName {
  return { key, id };
}

type Chosen = Extract<Wanted, { do: "complete" }>["parts"];

export function chosenParts({ parts }: KnownUpload, which: Chosen): [number, string][] {
  const all = [...parts].sort(([a], [b]) => a - b);
  switch (which) {
    case "all":
      return all;
    case "first":
      return all.slice(0, 1);
    case "last":
      return all.slice(-1);
    case "wrong etag":
      return all.map(([number]) => [number, "0".repeat(32)]);
    case "backwards":
      return all.reverse();
    case "none":
      return [];
  }
}

export function givenKey(secret: Secret, right: string | undefined): string | undefined {
  if (secret === "none") return undefined;
  if (secret === "right") return right;
  return customerKeys.find((key) => key !== right);
}

export function keyOf(object: ObjectRecord | undefined): string | undefined {
  const md5 = object?.encryption?.keyMd5;
  const md5Of = (key: string) => Buffer.from(hashBytes("md5", Buffer.from(key, "hex"))).toString("hex");
  return customerKeys.find((key) => md5Of(key) === md5);
}

async function readOptions(world: World, wanted: WantedRead) {
  const ssecKey = givenKey(wanted.secret, keyOf(await world.object(wanted.key)));
  return {
    ...(await conditionOptions(world, wanted.key, wanted.condition)).condition,
    ...rangeOptions(wanted.range),
    ...(ssecKey && { ssecKey }),
  };
}

interface RangeOptions {
  readonly range?: Readonly<Record<string, number>>;
  readonly rangeHeader?: string;
}

export function rangeOptions(range: WantedRange | null): RangeOptions {
  if (range === null) return {};
  const { form, kind, at, length } = range;
  if (form === "header") return { rangeHeader: rangeHeader(range) };
  if (kind === "suffix") return { range: { suffix: length } };
  return { range: kind === "from" ? { offset: at } : { offset: at, length } };
}

export function rangeHeader({ kind, at, length }: WantedRange): string {
  if (kind === "suffix") return `bytes=-${length}`;
  return kind === "from" ? `bytes=${at}-` : `bytes=${at}-${at + Math.max(0, length - 1)}`;
}

/** Returns the condition in both forms: fields of an object, and headers. */
export async function conditionOptions(world: World, key: string, wanted: WantedCondition | null) {
  if (wanted === null) return { condition: {}, headers: {} };
  const object = await world.object(key);
  const headers = conditionHeaders(wanted, object, world.now);
  if (wanted.form === "headers") return { condition: { onlyIfHeaders: headers }, headers };
  const { clause } = wanted;
  const value = clause.startsWith("etag") ? etagFor(wanted, object) : dateFor(wanted, object, world.now);
  return { condition: { onlyIf: { [clause]: value } }, headers };
}

function etagFor({ etag }: WantedCondition, object: ObjectRecord | undefined): string {
  if (etag === "any") return "*";
  return etag === "current" ? (object?.etag ?? "none") : "0".repeat(32);
}

function dateFor({ off }: WantedCondition, object: ObjectRecord | undefined, now: number): number {
  return (object?.uploaded ?? now) + off;
}

const headerNames = {
  etagMatches: "if-match",
  etagDoesNotMatch: "if-none-match",
  uploadedBefore: "if-unmodified-since",
  uploadedAfter: "if-modified-since",
} as const;

function conditionHeaders(wanted: WantedCondition, object: ObjectRecord | undefined, now: number) {
  const etag = etagFor(wanted, object);
  const value = wanted.clause.startsWith("etag")
    ? etag === "*"
      ? etag
      : `"${etag}"`
    : new Date(dateFor(wanted, object, now)).toUTCString();
  return { [headerNames[wanted.clause]]: value } as Record<string, string>;
}

/** Sample metadata, from none to more than the limit. */
export const metadata: readonly {
  readonly http: Readonly<Record<string, string | number>>;
  readonly custom: Readonly<Record<string, string>>;
}[] = [
  { http: {}, custom: {} },
  { http: { contentType: "text/plain", contentLanguage: "de" }, custom: { colour: "blue" } },
  { http: { cacheControl: "no-store", cacheExpiry: 1_800_000_000_000 }, custom: { a: "", b: "ü ß" } },
  { http: { contentEncoding: "gzip", contentDisposition: "inline" }, custom: { long: "x".repeat(3000) } },
  { http: {}, custom: { long: "x".repeat(9000) } },
];

function writeOptions({ metadata: which, storageClass, seal }: WantedWrite) {
  const { http, custom } = metadata[which]!;
  return {
    httpMetadata: http,
    customMetadata: custom,
    ...(storageClass === "none" ? {} : { storageClass }),
    ...(seal === null ? {} : { ssecKey: customerKeys[seal]! }),
  };
}

const algorithms = ["md5", "sha1", "sha256", "sha384", "sha512"] as const;

function checksumOption({ body, checksum, algorithm }: WantedWrite) {
  if (checksum === "none") return {};
  const name = algorithms[algorithm]!;
  return { [name]: Buffer.from(checksumOf(name, body, checksum)).toString("hex") };
}

export function checksumOf(
  algorithm: Parameters<typeof hashBytes>[0],
  body: WantedBody,
  which: "right" | "wrong",
): Uint8Array {
  const bytes = bytesOf("", bodyValue(body));
  return hashBytes(algorithm, which === "right" ? bytes : Buffer.concat([bytes, Buffer.from("!")]));
}

function listOptions(world: World, wanted: WantedPage) {
  const { prefix, delimiter, limit, after, include } = wanted;
  const kinds = (["httpMetadata", "customMetadata"] as const).filter((_, i) => (include & (1 << i)) !== 0);
  return {
    ...(prefix === "" ? {} : { prefix }),
    ...(delimiter === "" ? {} : { delimiter }),
    ...(limit === null ? {} : { limit }),
    ...(after === "cursor" && world.cursor !== undefined ? { cursor: world.cursor } : {}),
    ...(after === "start" || after === "cursor" ? {} : { startAfter: after }),
    include: kinds,
  };
}
