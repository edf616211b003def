// An independent check of reads. Model and store share the engine's rules and could both be wrong,
// so the bytes of a get are also compared with the bytes that were put, found by etag.
import { createHash } from "node:crypto";
import { bytesOf, digestOf } from "../../support/bodies.ts";
import type { Answer, Body, Operation, ReadOptions } from "./operation.ts";
import { bodyValue } from "./s3.ts";
import type { ReadVersion } from "./versions/operation.ts";

export interface Contents {
  /** Records the bodies of puts; throws if a get returned other bytes. */
  watch(operation: Operation, answer: Answer): void;
}

export function createContents(): Contents {
  /** The bodies by etag: the body of a put, or the bodies of all parts. */
  const known = new Map<string, readonly Body[]>();
  /** Whether an object has parts of unknown bytes. A copy of it without a key has an unknown etag too. */
  let hasUnknownParts = false;

  /** Stores the body by its MD5 and by the returned etag, which is random if encrypted. */
  function noteBody(body: Body, answer: Answer): void {
    known.set(md5(bytesOf("", bodyValue(body))), [body]);
    const etag = etagIn(answer);
    if (etag !== undefined) known.set(etag, [body]);
  }

  function noteParts(etags: readonly string[]): void {
    const found = etags.map((etag) => known.get(etag));
    // A part copied with a customer key has its own etag, and its bytes are unknown here.
    if (found.includes(undefined)) {
      hasUnknownParts = true;
      return;
    }
    const parts = found.flatMap((bodies) => bodies ?? []);
    const whole = md5(Buffer.concat(etags.map((etag) => Buffer.from(etag, "hex"))));
    known.set(`${whole}-${etags.length}`, parts);
    // A copy of the object is one body, so its etag is the MD5 of all bytes.
    known.set(md5(contentOf(parts)), parts);
  }

  function check(read: Read, shown: object): void {
    const bodies = known.get(read.etag);
    // An object copied with a customer key has an etag that no put returned.
    if (bodies === undefined && (read.isSealed || hasUnknownParts)) return;
    const bytes = contentOf(bodies ?? []);
    const asked = read.slice(bytes);
    if (bodies !== undefined && read.size === asked.length && read.digest === digestOf(asked)) return;
    throw new Error(
      `A read did not return the bytes that were put: ${JSON.stringify(shown)} returned ${JSON.stringify(read)}`,
    );
  }

  return {
    watch(operation, answer) {
      if (operation.do === "put" || operation.do === "upload part" || operation.do === "put version")
        noteBody(operation.body, answer);
      if (operation.do === "complete") noteParts(inOrder(operation.parts));
      if (operation.do === "s3") {
        if (operation.method === "PUT" && typeof operation.body === "object")
          noteBody(operation.body, answer);
        if (operation.method === "POST" && typeof operation.body === "string") {
          noteParts(inOrder(namedParts(operation.body)));
        }
      }
      const read = readOf(operation, answer);
      if (read !== undefined) check(read, operation);
    },
  };
}

/** Returns the etag in the answer of a put, binding or S3; undefined if the put was refused. */
function etagIn(answer: Answer): string | undefined {
  const { etag, headers } = (JSON.parse(answer) ?? {}) as {
    etag?: string;
    headers?: readonly (readonly [string, string])[];
  };
  return etag ?? headers?.find(([name]) => name === "etag")?.[1].replaceAll('"', "");
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

function contentOf(bodies: readonly Body[]): Buffer {
  return Buffer.concat(bodies.map((body) => bytesOf("", bodyValue(body))));
}

function inOrder(parts: readonly { readonly partNumber: number; readonly etag: string }[]): string[] {
  return [...parts].sort((a, b) => a.partNumber - b.partNumber).map(({ etag }) => etag);
}

function namedParts(document: string) {
  const found = document.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"/g);
  return Array.from(found, ([, number, etag]) => ({ partNumber: Number(number), etag: etag! }));
}

interface Read {
  readonly etag: string;
  readonly size: number;
  readonly digest: string;
  readonly isSealed: boolean;
  readonly slice: (bytes: Buffer) => Buffer;
}

function readOf(operation: Operation, answer: Answer): Read | undefined {
  if (operation.do === "get") {
    const { object, size, digest } = (JSON.parse(answer) ?? {}) as {
      object?: { etag: string };
      size?: number;
      digest?: string;
    };
    if (object === undefined) return undefined;
    const isSealed = operation.options.ssecKey !== undefined;
    return { etag: object.etag, size: size!, digest: digest!, isSealed, slice: sliceOf(operation.options) };
  }
  if (operation.do === "read version") return versionRead(operation, answer);
  if (operation.do !== "s3" || operation.method !== "GET" || operation.query !== undefined) return undefined;
  const { headers, body } = JSON.parse(answer) as {
    headers: [string, string][];
    body: { size: number; digest: string } | string | null;
  };
  if (body === null || typeof body === "string") return undefined;
  const etag = headers.find(([name]) => name === "etag")![1].replaceAll('"', "");
  const rangeHeader = operation.headers?.range;
  const isSealed = operation.headers?.["x-amz-server-side-encryption-customer-key"] !== undefined;
  return { etag, ...body, isSealed, slice: sliceOf(rangeHeader === undefined ? {} : { rangeHeader }) };
}

function versionRead({ range, ssecKey }: ReadVersion, answer: Answer): Read | undefined {
  const { etag, size, digest } = (JSON.parse(answer) ?? {}) as Partial<Read>;
  if (etag === undefined) return undefined;
  const slice = sliceOf(range === undefined ? {} : { range });
  return { etag, size: size!, digest: digest!, isSealed: ssecKey !== undefined, slice };
}

function sliceOf({ range, rangeHeader }: ReadOptions): (bytes: Buffer) => Buffer {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(rangeHeader ?? "") ?? [];
  const fromHeader =
    first === undefined
      ? undefined
      : first === ""
        ? { suffix: Number(last) }
        : { offset: Number(first), ...(last === "" ? {} : { length: Number(last) - Number(first) + 1 }) };
  const { offset = 0, length, suffix }: Readonly<Record<string, number>> = range ?? fromHeader ?? {};
  if (suffix !== undefined) return (bytes) => bytes.subarray(Math.max(0, bytes.length - suffix));
  return (bytes) => bytes.subarray(offset, length === undefined ? undefined : offset + length);
}
