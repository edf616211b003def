// An S3 service in this process that answers honestly until a test lets it lie.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { encodeText } from "../../../src/http/sigv4.ts";

export interface S3Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Undefined for a request to the bucket. */
  readonly key: string | undefined;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

export interface LyingService {
  readonly port: number;
  readonly objects: Map<string, Buffer>;
  /** Etags other than the MD5 of the bytes, by key. */
  readonly etags: Map<string, string>;
  readonly calls: readonly string[];
  /** Answers a request instead of the service if it returns true. */
  lie: (call: S3Call) => boolean;
}

export const quotedMd5 = (bytes: Uint8Array) => `"${createHash("md5").update(bytes).digest("hex")}"`;

export interface Listed {
  readonly key: string;
  readonly size?: string | number;
  readonly etag?: string;
  readonly time?: string;
  readonly storageClass?: string;
}

/** A page of a listing with encoded keys; the last one unless it has a token. */
export function listPage(entries: readonly Listed[], token?: string): string {
  const encoded = entries.map((entry) => ({ ...entry, key: encodeText(entry.key) }));
  return `<ListBucketResult><EncodingType>url</EncodingType>${listed(encoded, token)}</ListBucketResult>`;
}

function listed(entries: readonly Listed[], token?: string): string {
  const contents = entries.map(
    ({
      key,
      size = 1,
      etag = quotedMd5(Buffer.from("x")),
      time = "2026-01-01T00:00:00.000Z",
      storageClass,
    }) =>
      `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><ETag>${etag}</ETag><Size>${size}</Size>${storageClass === undefined ? "" : `<StorageClass>${storageClass}</StorageClass>`}</Contents>`,
  );
  const rest =
    token === undefined
      ? "<IsTruncated>false</IsTruncated>"
      : `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
  return `${rest}${contents.join("")}`;
}

export async function openLyingService(t: TestContext): Promise<LyingService> {
  const objects = new Map<string, Buffer>();
  const etags = new Map<string, string>();
  const calls: string[] = [];
  const etagOf = (key: string, bytes: Buffer) => etags.get(key) ?? quotedMd5(bytes);

  function answer({ request, response, key, query, body }: S3Call): void {
    const object = key === undefined ? undefined : objects.get(key);
    const fail = (status: number, code: string) =>
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
    if (request.method === "PUT" && key !== undefined) {
      objects.set(key, body);
      response.writeHead(200, { etag: quotedMd5(body) }).end();
    } else if (request.method === "DELETE" && key !== undefined) {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (key === undefined && query.has("list-type")) {
      const entries = [...objects]
        .filter(([name]) => name.startsWith(query.get("prefix") ?? ""))
        .map(([name, bytes]) => ({ key: name, size: bytes.length, etag: etagOf(name, bytes) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      const isEncoded = query.has("encoding-type");
      response.end(isEncoded ? listPage(entries) : `<ListBucketResult>${listed(entries)}</ListBucketResult>`);
    } else if (query.has("tagging")) response.end("<Tagging><TagSet></TagSet></Tagging>");
    else if (key === undefined) response.end(request.method === "HEAD" ? "" : "<X></X>");
    else if (object === undefined) fail(404, "NoSuchKey");
    else {
      const headers = {
        "content-length": object.length,
        etag: etagOf(key!, object),
        "last-modified": new Date().toUTCString(),
      };
      response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : object);
    }
  }

  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    response.on("error", () => {});
    request.on("error", () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path = "", search = ""] = request.url!.split("?");
    const [, , ...rest] = path.split("/");
    const key = rest.length === 0 || rest.join("/") === "" ? undefined : decodeURIComponent(rest.join("/"));
    calls.push(`${request.method} ${request.url}`);
    const call = { request, response, key, query: new URLSearchParams(search), body: Buffer.concat(chunks) };
    if (!service.lie(call)) answer(call);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const service: LyingService = { port, objects, etags, calls, lie: () => false };
  return service;
}
