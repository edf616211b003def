// A script misuses its output: the log and its responses.
import type { Attack } from "../attack.ts";

const contained = (name: string, code: string, patience?: number): Attack =>
  patience === undefined
    ? { name, code, expects: "contained" }
    : { name, code, expects: "contained", patience };

export const logAttacks: readonly Attack[] = [
  contained(
    "floods the log with short lines",
    "for (let i = 0; i < 300_000; i++) console.log('flood'); return 'logged';",
    60_000,
  ),
  contained("logs a line of 64 MB", "console.log('x'.repeat(64 << 20)); return 'logged';", 60_000),
  contained(
    "logs bytes that are not text",
    `for (let i = 0; i < 1000; i++) console.log(String.fromCharCode(...Array.from({ length: 500 }, (_, j) => (i * 31 + j * 7) % 65536)));
return "logged";`,
  ),
  contained(
    "forges lines of other scripts in the log",
    `console.log("x\\n[good] FORGED\\r\\n\\u001b[2J\\u001b[1;31m[store] FORGED"); console.error("[good] FORGED"); return "logged";`,
  ),
  contained(
    "forges lines of the request log",
    `console.log(JSON.stringify({ time: new Date().toISOString(), face: "s3", operation: "FORGED", status: 200 })); return "logged";`,
  ),
  contained(
    "writes to standard output and error without lines",
    `for (let i = 0; i < 2000; i++) { process.stdout?.write("x".repeat(1000)); process.stderr?.write("y".repeat(1000)); } return "written";`,
  ),
];

export const responseAttacks: readonly Attack[] = [
  contained("answers never", "await new Promise(() => {});", 3000),
  contained(
    "answers with a body that never ends",
    "return new Response(new ReadableStream({ async pull(c) { c.enqueue(new Uint8Array(65536)); } }));",
    3000,
  ),
  contained(
    "answers with a byte now and then",
    "return new Response(new ReadableStream({ async pull(c) { await pause(500); c.enqueue(new Uint8Array(1)); } }));",
    3000,
  ),
  contained(
    "answers with a body that fails",
    "return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(10)); c.error(new Error('broken')); } }));",
  ),
  contained(
    "answers with a header of 8 MB",
    "return new Response('x', { headers: { 'x-large': 'y'.repeat(8 << 20) } });",
  ),
  contained(
    "answers with 50,000 headers",
    "const headers = new Headers(); for (let i = 0; i < 50_000; i++) headers.append('x-' + i, 'y'); return new Response('x', { headers });",
  ),
  contained(
    "answers with a false length",
    "return new Response('short', { headers: { 'content-length': '1000000' } });",
    5000,
  ),
  contained(
    "answers with headers of the connection",
    "return new Response('x', { headers: { 'transfer-encoding': 'chunked, identity', connection: 'close, upgrade', upgrade: 'h2c', 'keep-alive': 'timeout=1000000' } });",
  ),
  contained(
    "answers with a split header",
    "return new Response('x', { headers: { 'x-a': 'b\\r\\n\\r\\nHTTP/1.1 200 OK' } });",
  ),
  contained("answers with status 101 without a WebSocket", "return new Response(null, { status: 101 });"),
  contained("answers with a value that is not a response", "throw undefined;"),
  contained(
    "throws an error with a hostile message",
    "const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { for (;;); } }); Object.defineProperty(error, 'message', { get() { throw error; } }); throw error;",
  ),
  contained("passes the request's body to its own response forever", "return new Response(request.body);"),
  contained(
    "accepts a WebSocket and floods it",
    `const { 0: client, 1: server } = new WebSocketPair(); server.accept();
for (let i = 0; i < 1000; i++) server.send("x".repeat(100_000));
return new Response(null, { status: 101, webSocket: client });`,
    5000,
  ),
];

const damaging = (name: string, code: string): Attack => ({
  ...contained(name, code, 5000),
  damagesItself: true,
});

/** These damage the script's own isolate, which is replaced afterwards or stays damaged. */
export const poisonAttacks: readonly Attack[] = [
  damaging(
    "replaces fetch, Response and Promise",
    "globalThis.fetch = globalThis.Response = () => { throw 1; }; Promise.prototype.then = () => {}; return 'done';",
  ),
  damaging(
    "makes every object a thenable",
    "Object.prototype.then = function () { for (;;); }; return 'done';",
  ),
  damaging(
    "adds properties to every object",
    "Object.prototype.bucket = 'private'; Object.prototype.get = () => 1; Object.prototype.status = 200; return 'done';",
  ),
  damaging(
    "replaces iteration",
    "Array.prototype[Symbol.iterator] = function* () { for (;;) yield 1; }; return 'done';",
  ),
];
