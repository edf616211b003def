// The objects of a backup on an S3 service. Every request can be retried, because an object is
// never written with different bytes; the lock is the only exception and is written conditionally.
import { sha256 } from "../http/sigv4.ts";
import type { S3Endpoint, S3Request, S3Times } from "../s3-client/client.ts";
import { formatHost } from "../s3-client/client.ts";
import { parseNumber, S3Refusal } from "../s3-client/errors.ts";
import { type Answer, Broken } from "../s3-client/http-client.ts";
import { type ListingPage, readListing } from "../s3-client/listing.ts";
import { createListingOrder, type ListingOrder } from "../s3-client/listing-order.ts";
import { readBody } from "../s3-client/response-body.ts";
import { createRetryingS3Client, refuseErrorDocument } from "../s3-client/retrying-client.ts";
import { serviceError } from "./service-error.ts";

export interface ObjectStore {
  /** Host, bucket and prefix for messages; contains no credentials. */
  readonly where: string;
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Creates the object. Returns false if it exists, or if a lost response hides its creation. */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /** Replaces the object if it still has this etag. Returns the new etag, otherwise undefined. */
  replace(name: string, bytes: Uint8Array, etag: string): Promise<string | undefined>;
  /** Returns undefined if the object does not exist. */
  get(name: string, maxBytes: number): Promise<FoundObject | undefined>;
  /** Lists the objects whose names begin with the prefix, in the order of their names. */
  list(prefix: string): AsyncGenerator<ObjectEntry>;
  /** Deletes the object. A missing object is not an error. */
  delete(name: string): Promise<void>;
  close(): void;
}

export interface FoundObject {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Milliseconds since the last write, by the clock of the service; 0 if unknown. */
  readonly age: number;
}

export interface ObjectEntry {
  readonly name: string;
  readonly size: number;
}

export interface ObjectStoreOptions {
  readonly endpoint: S3Endpoint;
  /** Session token of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly times?: Partial<S3Times>;
}

/** Longer than the default: a backup at night should outlast a restart of the service. */
const retryMilliseconds = 60_000;

export function openObjectStore({ endpoint, sessionToken, times }: ObjectStoreOptions): ObjectStore {
  const { prefix, bucket } = endpoint;
  const where = formatRepository(endpoint);
  const client = createRetryingS3Client(endpoint, {
    times: { retry: retryMilliseconds, ...times },
    mapError: (error) => serviceError(error, { where, bucket }),
  });
  const token = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };

  /** Sends a request with retries. `onRefusal` returns the result of an expected error response. */
  async function request<T>(
    given: Omit<S3Request, "key"> & { readonly name?: string },
    read: (message: Answer) => Promise<T>,
    onRefusal: (refusal: S3Refusal) => T | undefined = () => undefined,
  ): Promise<T> {
    const { name, ...rest } = given;
    const key = name === undefined ? {} : { key: prefix + name };
    return client.withRetries(async (deadline) => {
      try {
        return await read(
          await client.send({ ...rest, ...key, headers: { ...rest.headers, ...token } }, deadline),
        );
      } catch (error) {
        const expected = error instanceof S3Refusal ? onRefusal(error) : undefined;
        if (expected === undefined) throw error;
        return expected;
      }
    });
  }

  function checkOrder(order: ListingOrder, { entries }: ListingPage): void {
    try {
      order.check(entries.map(({ key }) => key));
    } catch (error) {
      throw client.mapError(error);
    }
  }

  const drain = async (message: Answer) =>
    refuseErrorDocument(message, (await readBytes(message, maxDocumentBytes, client.times.idle)).toString());

  const put = (name: string, bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}) => ({
    ...({ method: "PUT", name, headers } as const),
    // The service refuses a body that does not match this digest.
    body: { parts: [bytes], length: bytes.length, sha256: sha256(bytes) },
  });

  return {
    where,

    put: (name, bytes) => request(put(name, bytes), drain),

    create: (name, bytes) =>
      request<boolean>(
        put(name, bytes, { "if-none-match": "*" }),
        async (message) => {
          await drain(message);
          return true;
        },
        (refusal) => (isConflict(refusal) ? false : undefined),
      ),

    async replace(name, bytes, etag) {
      const written = await request<string>(
        put(name, bytes, { "if-match": etag }),
        async (message) => {
          await drain(message);
          return message.headers.etag ?? "";
        },
        (refusal) => (isConflict(refusal) || refusal.code === "NoSuchKey" ? conflict : undefined),
      );
      return written === conflict ? undefined : written;
    },

    get: (name, maxBytes) =>
      request<FoundObject | undefined | typeof missing>(
        { method: "GET", name },
        async (message) => ({
          bytes: await readBytes(message, maxBytes, client.times.idle),
          etag: message.headers.etag ?? "",
          age: ageOf(message),
        }),
        ({ code }) => (code === "NoSuchKey" ? missing : undefined),
      ).then((found) => (found === missing ? undefined : found)),

    async *list(namePrefix) {
      const order = createListingOrder();
      for (let after: string | undefined, isLast = false; !isLast; ) {
        const query: (readonly [string, string])[] = [
          ["list-type", "2"],
          ["max-keys", String(listLimit)],
          ["prefix", prefix + namePrefix],
        ];
        if (after !== undefined) query.push(["continuation-token", after]);
        const page = await request({ method: "GET", query }, async (message) =>
          readListing((await readBytes(message, maxDocumentBytes, client.times.idle)).toString(), {
            ...{ prefix: prefix + namePrefix, limit: listLimit, after },
          }),
        );
        checkOrder(order, page);
        for (const { key, size } of page.entries) yield { name: key.slice(prefix.length), size };
        after = page.next;
        isLast = after === undefined;
      }
    },

    delete: (name) =>
      request<true>(
        { method: "DELETE", name },
        async (message) => {
          await drain(message);
          return true;
        },
        ({ code }) => (code === "NoSuchKey" ? true : undefined),
      ).then(() => {}),

    close: client.close,
  };
}

const maxDocumentBytes = 16 * 1024 * 1024;
const listLimit = 1000;
/** Results of expected refusals. Neither can be an etag or an object. */
const conflict = " conflict";
const missing = Symbol("missing");

function isConflict({ status }: S3Refusal): boolean {
  return status === 412 || status === 409;
}

/** A longer object is cut off: the caller finds that it is damaged. */
async function readBytes(message: Answer, maxBytes: number, idle: number): Promise<Buffer> {
  const body = readBody(message, idle);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maxBytes) {
      body.cancel();
      return Buffer.concat(chunks);
    }
  }
  const announced = parseNumber(message.headers["content-length"]);
  if (announced !== undefined && announced !== size) throw new Broken("a response ended too early");
  return Buffer.concat(chunks);
}

/** Both times are of the service, so the clocks of the machines do not matter. */
function ageOf({ headers }: Answer): number {
  const age = Date.parse(headers.date ?? "") - Date.parse(headers["last-modified"] ?? "");
  return Number.isFinite(age) ? Math.max(0, age) : 0;
}

/** Address of a repository, without credentials. */
export function formatRepository(endpoint: S3Endpoint): string {
  const { bucket, prefix } = endpoint;
  return `s3://${formatHost(endpoint)}/${bucket}${prefix === "" ? "" : `/${prefix.slice(0, -1)}`}`;
}
