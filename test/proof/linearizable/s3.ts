// The S3 server of the recorded histories; its two processes are killed too.
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import { defaultPortLimits } from "../../../src/http/server/limits.ts";
import { createWatch } from "../../../src/metrics/collector.ts";
import { openEngine } from "../../../src/open.ts";
import { startS3 } from "../../../src/s3/server/supervisor.ts";
import { s3Processes } from "../../s3/inside.ts";
import type { Random } from "../../support/random.ts";
import type { S3Address } from "./s3-target.ts";

export const s3ProcessCount = 2;

export interface S3Beside {
  readonly address: S3Address;
  /** Kills one process of the server, which the server then replaces. */
  killOne(random: Random): void;
  end(): Promise<void>;
}

interface ServerTask {
  readonly directory: string;
  readonly secretKey: string;
}

export async function startS3Beside(directory: string): Promise<S3Beside> {
  const secretKey = randomBytes(32);
  const { engine, documents } = await openEngine(directory);
  const { accessKeyId, secretAccessKey } = await createCredentials(documents, secretKey, Date.now).create();
  await engine.close();

  const task: ServerTask = { directory, secretKey: secretKey.toString("base64") };
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(task)], { execArgv: [] });
  const exited = once(child, "exit");
  const port = await portOf(child);
  return {
    address: { url: `http://127.0.0.1:${port}`, key: { accessKeyId, secretAccessKey } },
    killOne(random) {
      const pids = s3Processes(child.pid!);
      if (pids.length > 0) process.kill(random.pick(pids), "SIGKILL");
    },
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  const [first] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (typeof first === "object" && first !== null) return (first as { port: number }).port;
  throw new Error(`The S3 API did not start: ${String(first)}`);
}

async function serve({ directory, secretKey }: ServerTask): Promise<void> {
  const server = await startS3({
    location: directory,
    host: "127.0.0.1",
    port: 0,
    processes: s3ProcessCount,
    domains: [],
    secretKey: Buffer.from(secretKey, "base64"),
    ...{ tls: undefined, trusted: [], limits: defaultPortLimits, probe: "", environment: process.env },
    // Logging is off: this proof kills processes, and the server would log each restart.
    log: () => {},
    watch: createWatch({ counts: false }),
  });
  process.once("disconnect", () => void server.close().finally(() => process.exit()));
  process.send!({ port: server.port });
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  await serve(JSON.parse(process.argv[2]!) as ServerTask);
}
