// A script takes what it can: processor time, memory, descriptors, timers.
import type { Attack } from "../attack.ts";

const contained = (name: string, code: string, patience?: number): Attack =>
  patience === undefined
    ? { name, code, expects: "contained" }
    : { name, code, expects: "contained", patience };

/** Number of attacks of each table that the slow lane runs; the long lane runs the others. */
export const shareOfLoops = 1;
export const shareOfMemory = 2;

export const loopAttacks: readonly Attack[] = [
  contained("loops forever", "for (;;) {}"),
  contained("loops forever in microtasks", "for (;;) await null;"),
  contained("loops forever in timers", "for (;;) { await pause(0); for (let i = 0; i < 1e6; i++); }", 5000),
  contained(
    "matches a pattern that takes exponential time",
    `return String(/^(a+)+$/.test("a".repeat(40) + "b"));`,
  ),
  contained(
    "waits for a shared number",
    `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); return "waited";`,
    5000,
  ),
  contained("calculates a huge number", `return String((2n ** 40_000_000n) % 7n ** 9_000_000n).length;`),
  contained("recurses forever", "const again = () => again() + 1; return again();"),
  contained(
    "derives keys without end",
    `const key = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]);
await Promise.all(Array.from({ length: 200 }, () => crypto.subtle.deriveBits({ name: "PBKDF2", salt: new Uint8Array(8), iterations: 100_000, hash: "SHA-512" }, key, 512)));
return "derived";`,
    20_000,
  ),
];

export const memoryAttacks: readonly Attack[] = [
  contained("fills its heap", "for (;;) hoard.push(Array.from({ length: 50_000 }, (_, i) => ({ i })));"),
  contained(
    "fills its heap slowly",
    "for (;;) { hoard.push(Array.from({ length: 50_000 }, (_, i) => ({ i }))); await pause(0); }",
  ),
  contained(
    "fills memory outside its heap",
    "for (;;) { hoard.push(new Uint8Array(16 << 20).fill(1)); await pause(0); }",
  ),
  contained(
    "doubles a string",
    `let text = "x"; for (;;) { text += text; hoard.push(text.split("")); await pause(0); }`,
  ),
  contained(
    "grows the memory of a WebAssembly module",
    `const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
for (;;) { memory.grow(256); new Uint8Array(memory.buffer).fill(1); await pause(0); }`,
  ),
  contained(
    "fills shared memory",
    "for (;;) { hoard.push(new Uint8Array(new SharedArrayBuffer(16 << 20)).fill(1)); await pause(0); }",
  ),
  contained(
    "writes files without end",
    `const { writeFileSync } = await import("node:fs");
for (let i = 0; ; i++) { writeFileSync("/tmp/" + i, new Uint8Array(8 << 20).fill(1)); await pause(0); }`,
  ),
  contained(
    "unpacks a compression bomb",
    `const { readable, writable } = new CompressionStream("gzip"); const writer = writable.getWriter();
void (async () => { for (let i = 0; i < 512; i++) await writer.write(new Uint8Array(1 << 20)); await writer.close(); })();
return (await new Response(readable.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()).byteLength;`,
  ),
  contained(
    "clones a structure that grows",
    `let value = [1]; for (;;) { value = structuredClone([value, value, value, value, value, value]); await pause(0); }`,
  ),
  contained(
    "keeps every response of its bucket",
    `await env.BUCKET.put("large", new Uint8Array(8 << 20));
for (;;) hoard.push(await (await env.BUCKET.get("large")).arrayBuffer());`,
  ),
  contained("reserves a huge array", "return new Array(2 ** 32 - 1).fill(0).length;"),
];

export const floodAttacks: readonly Attack[] = [
  contained(
    "sets a million timers",
    "for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e6); return 'set';",
  ),
  contained(
    "keeps work after its response forever",
    "ctx.waitUntil((async () => { for (;;) await pause(10); })()); return 'answered';",
  ),
  contained("keeps work that never settles", "ctx.waitUntil(new Promise(() => {})); return 'answered';"),
  contained(
    "opens thousands of bodies of its bucket and reads none",
    `await env.BUCKET.put("body", new Uint8Array(1 << 20));
for (let i = 0; i < 5000; i++) hoard.push(env.BUCKET.get("body"));
return (await Promise.allSettled(hoard)).length;`,
    30_000,
  ),
  contained(
    "sends thousands of requests at once to its bucket",
    `return (await Promise.allSettled(Array.from({ length: 5000 }, (_, i) => env.BUCKET.put("k" + (i % 10), "x")))).length;`,
    60_000,
  ),
  contained(
    "sends bodies to its bucket that never end",
    `const puts = [];
for (let i = 0; i < 200; i++) {
  const { readable, writable } = new FixedLengthStream(1 << 30);
  void writable.getWriter().write(new Uint8Array(1000));
  puts.push(env.BUCKET.put("never", readable));
}
await Promise.race([Promise.allSettled(puts), pause(3000)]);
return "left";`,
    30_000,
  ),
  contained(
    "starts thousands of uploads",
    `return (await Promise.allSettled(Array.from({ length: 2000 }, (_, i) => env.BUCKET.createMultipartUpload("u" + i)))).length;`,
    60_000,
  ),
  contained(
    "fetches thousands of addresses at once",
    `return (await Promise.allSettled(Array.from({ length: 3000 }, (_, i) => fetch("http://example.com/" + i)))).length;`,
    60_000,
  ),
  contained(
    "opens thousands of WebSocket pairs and sends",
    `for (let i = 0; i < 5000; i++) { const { 0: a, 1: b } = new WebSocketPair(); a.accept(); b.accept(); for (let j = 0; j < 20; j++) a.send("x".repeat(1000)); hoard.push(a, b); }
return "sent";`,
    30_000,
  ),
  contained(
    "rejects a hundred thousand promises",
    "for (let i = 0; i < 1e5; i++) void Promise.reject(new Error('x' + i)); return 'rejected';",
  ),
];

export const responseAttacks: readonly Attack[] = [
  contained(
    "answers with 10 MB of headers",
    `return new Response("x", { headers: Object.fromEntries(Array.from({ length: 1280 }, (_, i) => ["x-" + i, "v".repeat(8000)])) });`,
  ),
  contained(
    "answers with one header of 10 MB",
    `return new Response("x", { headers: { "x-large": "v".repeat(10_000_000) } });`,
  ),
  contained(
    "answers with headers that frame another body",
    `return new Response("x", { headers: { "content-length": "100", "transfer-encoding": "chunked", connection: "close" } });`,
  ),
  contained(
    "answers with a body without end",
    `return new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65536)) }));`,
    3000,
  ),
  contained(
    "answers with a body that drips",
    `return new Response(new ReadableStream({ async pull(to) { await pause(100); to.enqueue(new Uint8Array(1)); } }));`,
    3000,
  ),
  contained(
    "answers with a body that never starts",
    `return new Response(new ReadableStream({ pull: () => pause(1e8) }));`,
    3000,
  ),
  contained(
    "breaks off its body",
    `let pieces = 0;
return new Response(new ReadableStream({ pull(to) { if (pieces++ > 20) throw new Error("broken"); to.enqueue(new Uint8Array(65536)); } }));`,
  ),
  contained(
    "exceeds its memory in the middle of its body",
    `let pieces = 0;
return new Response(new ReadableStream({ async pull(to) {
  if (pieces++ > 20) for (;;) hoard.push(new Uint8Array(16 << 20).fill(1));
  to.enqueue(new Uint8Array(65536));
} }));`,
  ),
  contained("never answers", "await new Promise(() => {});", 3000),
  contained("sleeps without end", "await pause(1e8);", 3000),
  contained(
    "lists its bucket ten thousand times at once",
    `return (await Promise.allSettled(Array.from({ length: 10_000 }, () => env.BUCKET.list()))).length;`,
    20_000,
  ),
  contained(
    "asks its bucket after its response forever",
    `for (let i = 0; i < 300; i++) ctx.waitUntil((async () => { for (;;) await env.BUCKET.head("k"); })());
return "answered";`,
  ),
];
