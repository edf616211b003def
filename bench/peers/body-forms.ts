// Large PUTs in each form that clients use: presigned, with the hash of the body, in signed chunks,
// and in chunks with a trailer. Each is encoded once, so that sending it costs the client little.
import { createHash } from "node:crypto";
import { crc32 } from "@node-rs/crc32";
import { sha256, sign } from "../../src/http/sigv4.ts";
import { type Signed, signRaw } from "../../test/s3/raw.ts";
import { KiB } from "../section.ts";
import { bucket } from "./s3-server.ts";

export type BodyForm = "presigned" | "hash signed" | "signed chunks" | "chunks and trailer";

export interface EncodedPut {
  readonly head: Buffer;
  readonly body: Buffer;
}

export interface FormTarget {
  readonly url: string;
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Size of the chunks that most clients send. */
const chunkBytes = 64 * KiB;
const crcHeader = "x-amz-checksum-crc32";

const payloads: Readonly<Record<BodyForm, string | undefined>> = {
  presigned: "UNSIGNED-PAYLOAD",
  "hash signed": undefined,
  "signed chunks": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  "chunks and trailer": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
};

export function encodePut({ url, key }: FormTarget, form: BodyForm, name: string, bytes: Buffer): EncodedPut {
  const path = `/${bucket}/${name}`;
  const isChunked = form === "signed chunks" || form === "chunks and trailer";
  const headers = {
    ...(isChunked ? { "x-amz-decoded-content-length": String(bytes.length) } : {}),
    ...(form === "chunks and trailer" ? { "x-amz-trailer": crcHeader } : {}),
  };
  const raw = { method: "PUT", path, headers, ...(isChunked ? {} : { body: bytes }) };
  const payload = payloads[form];
  const signed = signRaw(url, raw, {
    ...{ key, form: "header" },
    ...(payload === undefined ? {} : { payload }),
  });
  const body = isChunked ? encodeChunks(bytes, form === "signed chunks" ? signed : undefined) : bytes;
  const lines = Object.entries({ ...signed.headers, "content-length": String(body.length) });
  const head = `PUT ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return { head: Buffer.from(head), body };
}

/** Signs the chunks if `signed` is given; otherwise adds a trailer. */
function encodeChunks(bytes: Buffer, signed: Signed | undefined): Buffer {
  const pieces: Uint8Array[] = [];
  let previous = signed?.signature ?? "";
  const add = (chunk: Buffer) => {
    let extension = "";
    if (signed !== undefined) {
      const { time, scope, key } = signed.seed;
      const hash = createHash("sha256").update(chunk).digest("hex");
      const text = ["AWS4-HMAC-SHA256-PAYLOAD", time, scope, previous, sha256(""), hash].join("\n");
      previous = sign(key, text);
      extension = `;chunk-signature=${previous}`;
    }
    pieces.push(Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk);
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    add(bytes.subarray(at, at + chunkBytes));
    pieces.push(Buffer.from("\r\n"));
  }
  add(Buffer.alloc(0));
  if (signed === undefined) {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(bytes));
    pieces.push(Buffer.from(`${crcHeader}:${sum.toString("base64")}\r\n`));
  }
  return Buffer.concat([...pieces, Buffer.from("\r\n")]);
}
