// A bare node:http server that returns one file, streamed or from memory, in one or more processes.
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstDocument, start } from "../servers.ts";

export interface BareFile {
  readonly directory: string;
  readonly body: Uint8Array;
  readonly started: ChildProcess[];
  readonly from: "disk" | "memory";
  /** Number of processes, which share the port through node:cluster; default: 1. */
  readonly processes?: number;
}

/** Starts the server and returns its port. */
export async function startBareFile(options: BareFile): Promise<number> {
  const { directory, body, started, from, processes = 1 } = options;
  const source = join(directory, "bare.bin");
  writeFileSync(source, body);
  const file = join(directory, `bare-file-${processes}.mjs`);
  writeFileSync(
    file,
    `import cluster from "node:cluster";
import { createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
const processes = ${processes};
function serve() {
  const bytes = ${from === "disk" ? "undefined" : `readFileSync(${JSON.stringify(source)})`};
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-length": "${body.length}" });
    if (bytes === undefined) createReadStream(${JSON.stringify(source)}).pipe(response);
    else response.end(bytes);
  });
  server.listen(0, "127.0.0.1", () => {
    if (cluster.isPrimary) console.log(JSON.stringify({ port: server.address().port }));
  });
}
if (processes > 1 && cluster.isPrimary) {
  let listening = 0;
  cluster.on("listening", (worker, { port }) => {
    if (++listening === processes) console.log(JSON.stringify({ port }));
  });
  process.on("SIGTERM", () => process.exit(0));
  for (let i = 0; i < processes; i++) cluster.fork();
} else {
  serve();
}
`,
  );
  const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
  return port;
}
