// A minimal S3 client: sends presigned requests with node:http over persistent connections.
import { Agent, type IncomingMessage, request } from "node:http";
import { encodePath, presign } from "../../src/http/sigv4.ts";

export interface S3Access {
  /** `http://host:port` */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface BareS3 {
  put(key: string, body: Uint8Array): Promise<void>;
  /** Reads the whole object and returns its length. */
  get(key: string): Promise<number>;
  close(): void;
}

export function createBareS3({ endpoint, bucket, ...access }: S3Access): BareS3 {
  const agent = new Agent({ keepAlive: true });

  function send(method: "GET" | "PUT", key: string, body?: Uint8Array): Promise<IncomingMessage> {
    const path = `/${bucket}/${encodePath(key)}`;
    const signed = { endpoint, method, path, ...access, region: "us-east-1" };
    const url = presign({ ...signed, time: Date.now(), expiresInSeconds: 600 });
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, agent, headers: { "content-length": body?.length ?? 0 } }, resolve);
      sent.on("error", reject);
      sent.end(body);
    });
  }

  async function read(method: "GET" | "PUT", key: string, body?: Uint8Array): Promise<number> {
    const answer = await send(method, key, body);
    let bytes = 0;
    answer.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await new Promise<void>((resolve, reject) => answer.once("end", resolve).once("error", reject));
    if (answer.statusCode === 200) return bytes;
    throw new Error(`Cannot measure: the S3 engine answered ${answer.statusCode} to ${method} ${key}`);
  }

  return {
    put: async (key, body) => void (await read("PUT", key, body)),
    get: (key) => read("GET", key),
    close: () => agent.destroy(),
  };
}
