// Additions to crypto that scripts expect: a stream that computes a digest, and a comparison in
// constant time.
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual as equalInConstantTime } from "node:crypto";
import { WritableStream } from "node:stream/web";
import { toBytes } from "../../binding/arguments.ts";

const { DOMException } = globalThis;

const hashes: Readonly<Record<string, string>> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

export class DigestStream extends WritableStream<ArrayBuffer | ArrayBufferView | string> {
  /** Resolves when the stream is closed; rejects when it is aborted. */
  readonly digest: Promise<ArrayBuffer>;
  readonly #written: { bytes: number };

  constructor(algorithm: string | { readonly name: string }) {
    const hash = createHash(hashFor(algorithm));
    const written = { bytes: 0 };
    let resolve: (digest: ArrayBuffer) => void;
    let reject: (reason: unknown) => void;
    const digest = new Promise<ArrayBuffer>((...settle) => {
      [resolve, reject] = settle;
    });
    // The writer receives the error, so a script need not handle it on the digest promise too.
    digest.catch(() => {});
    super({
      write(chunk) {
        const bytes = typeof chunk === "string" ? Buffer.from(chunk) : toBytes(chunk);
        if (bytes === undefined) {
          const fault = new TypeError(`A DigestStream takes bytes or text, not a ${typeof chunk}.`);
          reject(fault);
          throw fault;
        }
        hash.update(bytes);
        written.bytes += bytes.length;
      },
      close() {
        resolve(new Uint8Array(hash.digest()).buffer);
      },
      abort(reason) {
        reject(reason);
      },
    });
    this.digest = digest;
    this.#written = written;
  }

  get bytesWritten(): bigint {
    return BigInt(this.#written.bytes);
  }
}

function hashFor(algorithm: string | { readonly name: string }): string {
  const name = typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm;
  const hash = hashes[String(name).toUpperCase()];
  if (hash !== undefined) return hash;
  throw new DOMException(
    `Unknown digest algorithm ${JSON.stringify(name)}: use ${Object.keys(hashes).join(", ")}.`,
    "NotSupportedError",
  );
}

/** The standard digest function, extended by MD5. */
export function createDigest(subtle: typeof globalThis.crypto.subtle) {
  const nativeDigest = subtle.digest.bind(subtle) as (
    algorithm: unknown,
    data: unknown,
  ) => Promise<ArrayBuffer>;
  return async function digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    const algorithmObject =
      typeof algorithm === "object" && algorithm !== null ? algorithm : { name: algorithm };
    const { name } = algorithmObject as { readonly name?: unknown };
    if (String(name).toUpperCase() !== "MD5") return nativeDigest(algorithm, data);
    const bytes = toBytes(data);
    if (bytes === undefined) {
      throw new TypeError(`digest takes an ArrayBuffer or a view of one, not a ${typeof data}.`);
    }
    return new Uint8Array(createHash("md5").update(bytes).digest()).buffer;
  };
}

export function timingSafeEqual(a: unknown, b: unknown): boolean {
  const [left, right] = [toBytes(a), toBytes(b)];
  if (left === undefined || right === undefined) {
    throw new TypeError("timingSafeEqual compares two ArrayBuffers or views of them.");
  }
  if (left.length !== right.length) {
    throw new TypeError(
      `timingSafeEqual needs inputs of the same length, not ${left.length} and ${right.length} bytes: ` +
        "compare digests of them when lengths may differ.",
    );
  }
  return equalInConstantTime(left, right);
}
