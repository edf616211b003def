// Calls the S3 API without authentication: parses a request from text, runs the real operation
// handler on an in-memory engine and checks that the response can be sent over HTTP.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { createEngine } from "../../../../src/engine/create.ts";
import type { Engine } from "../../../../src/engine/engine.ts";
import type { HttpRequest } from "../../../../src/http/server/listen.ts";
import { createMemoryBlobs } from "../../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../../src/memory/records.ts";
import { StoreError } from "../../../../src/model/errors.ts";
import type { SigningContext } from "../../../../src/s3/auth/authenticate.ts";
import { authorize } from "../../../../src/s3/auth/authorize.ts";
import { type BudgetShare, createDocumentBudget } from "../../../../src/s3/body/document-budget.ts";
import { openPayload } from "../../../../src/s3/body/payload.ts";
import { readXml } from "../../../../src/s3/body/xml-reader.ts";
import type { S3Response } from "../../../../src/s3/call.ts";
import { errorCodeByReason, S3Error } from "../../../../src/s3/errors.ts";
import { checkRefusedHeaders } from "../../../../src/s3/headers/metadata.ts";
import { readOperation } from "../../../../src/s3/operation.ts";
import { operationHandlers } from "../../../../src/s3/operations/handlers.ts";
import { readRequest } from "../../../../src/s3/request.ts";
import { holds, isClear, type Runner, Violation } from "../target.ts";

export const fixedNow = Date.UTC(2026, 10, 15, 12);
export const domains = ["s3.example.com"];

/** Matches headers of which Node keeps only the first occurrence. */
const single =
  /^(?:authorization|content-(?:length|type)|etag|expires|from|host|if-(?:un)?modified-since|last-modified|location)$/;

/** Parses a request: method and target, then headers, then the body after an empty line. */
export function httpRequest(text: string): HttpRequest {
  const end = text.indexOf("\n\n");
  const [first = "", ...lines] = (end === -1 ? text : text.slice(0, end)).split("\n");
  const space = first.indexOf(" ");
  const rawHeaders: string[] = [];
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const [name, value] = colon === -1 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).trim()];
    rawHeaders.push(name, value);
    const lower = name.toLowerCase();
    const before = headers.get(lower);
    if (before === undefined) headers.set(lower, value);
    else if (!single.test(lower)) headers.set(lower, `${before}, ${value}`);
  }
  const body = end === -1 ? undefined : Buffer.from(text.slice(end + 2), "latin1");
  const isCounted = headers.has("content-length") || headers.has("transfer-encoding");
  if (body !== undefined && !isCounted) headers.set("content-length", String(body.length));
  return {
    method: first.slice(0, space),
    target: first.slice(space + 1),
    rawHeaders,
    scheme: "http",
    address: () => "",
    header: (name) => headers.get(name),
    hasBody: body !== undefined,
    body: () => inPieces(body ?? Buffer.alloc(0), text.length),
    bytesRead: () => 0,
    onDisconnect: () => {},
  };
}

/** Splits the bytes into pieces; the sizes follow from `measure`, so a run is repeatable. */
export async function* inPieces(bytes: Buffer, measure: number): AsyncGenerator<Uint8Array> {
  const sizes = [1 + (measure % 7), 1 + (measure % 61), 1 + (measure % 1021), bytes.length];
  const least = Math.ceil(bytes.length / 64);
  for (let at = 0, turn = measure; at < bytes.length; turn++) {
    const size = Math.max(least, sizes[turn % sizes.length]!);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

export interface World {
  readonly engine: Engine;
  readonly uploadId: string;
}

export const uploadPlaceholder = "0123456789abcdef0123456789abcdef";
export const objectBytes = Buffer.from("0123456789".repeat(30));

/** Opens a new engine: locked versions of an earlier world could not be removed. */
async function openWorld(): Promise<World> {
  const engine = createEngine({
    records: createMemoryRecords(),
    blobs: createMemoryBlobs(),
    now: () => fixedNow,
    inlineBytes: 64,
  });
  await engine.createBucket("bucket", { account: "default" });
  await engine.createBucket("locked", { account: "default" });
  await engine.changeSettings("locked", { versioning: "on", objectLock: {} });
  await engine.put("locked", "key", objectBytes, {});
  await engine.put("bucket", "key", objectBytes, {});
  await engine.put("bucket", "small/ü", Buffer.from("small"), { customMetadata: new Map([["a", "b"]]) });
  const { id } = await engine.createUpload("bucket", "parts", {});
  await engine.uploadPart("bucket", { key: "parts", id }, 1, objectBytes, {});
  return { engine, uploadId: id };
}

/** Inputs until the world is reset, so that stored data does not accumulate. */
const inputsAWorld = 250;

export async function worldRunner(run: (input: string, world: World) => Promise<string>): Promise<Runner> {
  let world = await openWorld();
  let seen = 0;
  return {
    async run(input) {
      if (++seen % inputsAWorld === 0) {
        await world.engine.close();
        world = await openWorld();
      }
      return run(input, world);
    },
    outcomeOf: s3Outcome,
    close: () => world.engine.close(),
  };
}

export function s3Outcome(error: unknown): string | undefined {
  const code = error instanceof S3Error ? error.code : reasonCode(error);
  return code === "InternalError" ? undefined : code;
}

function reasonCode(error: unknown) {
  if (!(error instanceof StoreError)) return undefined;
  return error.cause instanceof S3Error ? error.cause.code : errorCodeByReason[error.reason];
}

const caller = { accessKeyId: "STOREAAAAAAAAAAAAAAA", account: "default", grants: undefined };
export const unsigned: SigningContext = {
  key: Buffer.alloc(32),
  scope: { day: "20261115", region: "auto", service: "s3" },
  time: "20261115T120000Z",
  signature: "0".repeat(64),
};

/** Returns a memory budget large enough for any document of one request. */
export function share(kind: "document" | "form" = "document"): BudgetShare {
  return createDocumentBudget().open(kind);
}

/** Runs the operation of an authorized request; the upload's real ID replaces the placeholder. */
export async function callOperation(input: string, { engine, uploadId }: World): Promise<string> {
  const request = readRequest(httpRequest(input.replaceAll(uploadPlaceholder, uploadId)));
  const operation = readOperation(request, domains);
  if (operation.name === "PostObject") return "a form";
  checkRefusedHeaders(request, operation.name);
  const given = request.header("x-amz-content-sha256") ?? "UNSIGNED-PAYLOAD";
  const payload = openPayload(request, { caller, payload: given, signing: unsigned }, share());
  const { bucket, canOverwrite } = await authorize({ engine, caller, request, now: Date.now }, operation);
  const call = {
    engine,
    request,
    operation,
    caller,
    bucket,
    canOverwrite,
    payload,
    configuredRegion: undefined,
    now: Date.now,
  };
  const response = await operationHandlers[operation.name](call);
  await checkAnswer(response, input);
  return `${operation.name} ${response.status}`;
}

/** Matches headers that the store generates; other headers contain metadata of an earlier input. */
const ours = /^(?:content-(?:length|range)|last-modified|etag|expires|x-amz-(?!meta-).*)$/;

/** Checks that headers are valid, the body has its declared length and XML is readable. */
export async function checkAnswer({ status, headers, body }: S3Response, input: string): Promise<void> {
  let length: number | undefined;
  let range: RegExpExecArray | null | undefined;
  for (const [name, value] of headers) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new Violation(`the header ${name} cannot be sent: ${JSON.stringify(value)}`);
    }
    if (ours.test(name)) holds(isClear(value.trim() || "empty", input), `${name} is ${value}`);
    if (name === "content-length") length = Number(value);
    if (name === "content-range") range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(value);
  }
  if (range !== undefined) checkRange(range, length);
  holds(status >= 200 && status < 400, `answered ${status}`);
  if (body === null) return;
  if (typeof body === "string") {
    holds(body.startsWith("<?xml"), "the document does not start with an XML declaration");
    readXml(Buffer.from(body), /<(\w+)/.exec(body.slice(5))![1]!);
    return;
  }
  let size = 0;
  if (body instanceof Uint8Array) size = body.length;
  else for await (const chunk of body.chunks()) size += chunk.length;
  holds(
    length === undefined || size === length,
    `the body has ${size} bytes, but content-length is ${length}`,
  );
}

function checkRange(range: RegExpExecArray | null, length: number | undefined): void {
  const [first, last, whole] = (range ?? []).slice(1).map(Number) as [number, number, number];
  const lies = first >= 0 && first <= last && last < whole && length === last - first + 1;
  holds(lies, `the range ${range?.[0]} with ${length} bytes lies outside of the object`);
}
