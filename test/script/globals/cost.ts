// Prints the CPU time of one request with Store's fetch classes and with Node's. Run it by hand.
import { describeResponse } from "../../../src/script/globals/fetch/response.ts";
import { incoming, node, script } from "./installed.ts";

const url = "http://localhost:8787/photos/a.png";
const rawHeaders = [
  "Host",
  "localhost:8787",
  "User-Agent",
  "bench",
  "Accept",
  "*/*",
  "Accept-Encoding",
  "gzip",
];
const headers = { "content-type": "text/plain" };
const rounds = 5;
let checksum = 0;

function ours(): number {
  const request = incoming({ url, rawHeaders: [...rawHeaders] });
  const description = describeResponse(new script.Response("x", { headers }));
  let length = request.method.length;
  for (const [, value] of description.headers) length += value.length;
  return length;
}

function oursReadingHeaders(): number {
  const request = incoming({ url, rawHeaders: [...rawHeaders] });
  return (request.headers.get("accept")?.length ?? 0) + ours();
}

function nodes(): number {
  const given = new node.Headers();
  for (let index = 1; index < rawHeaders.length; index += 2)
    given.append(rawHeaders[index - 1]!, rawHeaders[index]!);
  const request = new node.Request(url, { method: "GET", headers: given });
  const response = new node.Response("x", { headers });
  let length = request.method.length + Number(response.body?.locked);
  for (const [, value] of response.headers) length += value.length;
  return length;
}

/** Returns the CPU time per call in microseconds: the minimum of all rounds. */
function cost(call: () => number, calls: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    for (let count = 0; count < calls; count++) checksum += call();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / calls);
  }
  return least;
}

const rows: [string, () => number, number][] = [
  ["ours: request, response, description", ours, 200_000],
  ["ours: the same twice, with a header read once", oursReadingHeaders, 200_000],
  ["Node's: request, response, its headers and body", nodes, 10_000],
];
for (const [name, call, calls] of rows)
  console.log(`${cost(call, calls).toFixed(2).padStart(8)} µs  ${name}`);
if (checksum === 0) throw new Error("nothing was measured");
