// A bare node:http server that answers every request with one file, streamed or from memory.
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstDocument, start } from "../servers.ts";

/** Its port. */
export async function startBareFile(
  directory: string,
  body: Uint8Array,
  started: ChildProcess[],
  from: "streamed" | "from memory" = "streamed",
): Promise<number> {
  const source = join(directory, "bare.bin");
  writeFileSync(source, body);
  const file = join(directory, "bare-file.mjs");
  writeFileSync(
    file,
    `import { createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
const bytes = ${from === "streamed" ? "undefined" : `readFileSync(${JSON.stringify(source)})`};
const server = createServer((request, response) => {
  response.writeHead(200, { "content-length": "${body.length}" });
  if (bytes === undefined) createReadStream(${JSON.stringify(source)}).pipe(response);
  else response.end(bytes);
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
`,
  );
  const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
  return port;
}
