// Starts the bare server that verifies signatures and appends, as a limit for durable puts.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstDocument, start } from "../servers.ts";
import { type S3Server, s3ServerAt } from "./s3-server.ts";

export async function startBareSigned(directory: string, started: ChildProcess[]): Promise<S3Server> {
  const program = fileURLToPath(new URL("./bare-signed-server.js", import.meta.url));
  const secretAccessKey = "secret";
  const child = start([program, join(directory, "bare-signed.log"), secretAccessKey], started);
  const { port } = JSON.parse(await firstDocument(child)) as { port: number };
  return s3ServerAt({
    name: "bare node:http that verifies and appends",
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: "bare",
    secretAccessKey,
    isSynced: true,
  });
}
