// A replacement for curl where it is not installed, with the options that the documentation uses.
import { type IncomingMessage, request } from "node:http";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: "string", short: "X" },
    header: { type: "string", short: "H", multiple: true, default: [] },
    "data-binary": { type: "string" },
    user: { type: "string", short: "u" },
    include: { type: "boolean", short: "i", default: false },
    silent: { type: "boolean", short: "s" },
    "write-out": { type: "string", short: "w", default: "" },
  },
});

const data = values["data-binary"];
const headers: Record<string, string> = { Accept: "*/*" };
if (data !== undefined) {
  headers["Content-Type"] = "application/x-www-form-urlencoded";
  headers["Content-Length"] = String(Buffer.byteLength(data));
}
for (const header of values.header) {
  const [name, ...value] = header.split(":");
  headers[name!] = value.join(":").trim();
}
if (values.user !== undefined) headers.Authorization = `Basic ${Buffer.from(values.user).toString("base64")}`;

const method = values.request ?? (data === undefined ? "GET" : "POST");
const sent = request(positionals[0]!, { method, headers, agent: false }, (response) => {
  print(response).catch(fail);
});
sent.on("error", fail);
sent.end(data);

async function print(response: IncomingMessage): Promise<void> {
  const { httpVersion, statusCode, statusMessage, rawHeaders } = response;
  if (values.include) {
    process.stdout.write(`HTTP/${httpVersion} ${statusCode} ${statusMessage}\r\n`);
    for (let i = 0; i < rawHeaders.length; i += 2) {
      process.stdout.write(`${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`);
    }
    process.stdout.write("\r\n");
  }
  for await (const chunk of response) process.stdout.write(chunk as Uint8Array);
  const ending = values["write-out"].replaceAll("%{http_code}", String(statusCode));
  process.stdout.write(ending.replaceAll("\\n", "\n"));
}

function fail(error: Error): void {
  console.error(`curl: ${error.message}`);
  process.exitCode = 7;
}
