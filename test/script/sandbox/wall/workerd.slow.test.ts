// The real runtime behind the real wall.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder, skipWall, startScript } from "./scene.ts";

const options = { skip: skipWall, timeout: 300_000 };

test("a script answers, writes logs and fetches over its sockets", options, async (t) => {
  const script = await startScript(
    t,
    `export default { async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (pathname === "/") return new Response("ready");
      console.log("asked for", pathname);
      return env.OUTSIDE.fetch("http://outside" + pathname);
    } };`,
  );
  const outside = createServer((request, response) => void response.end(`outside: ${request.url}`));
  outside.listen(join(script.sockets, "outside"));
  await once(outside, "listening");
  t.after(() => outside.close());
  chmodSync(join(script.sockets, "outside"), 0o666);
  assert.deepEqual(await script.get("/one"), { status: 200, body: "outside: /one" });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => script.get(`/${index}`)));
  assert.deepEqual(
    answers.map(({ body }) => body),
    answers.map((_, index) => `outside: /${index}`),
  );
  assert.match(script.output(), /asked for \/one/);
});

test("the reported process id is that of workerd, which ends with bubblewrap", options, async (t) => {
  const script = await startScript(t, `export default { fetch() { return new Response("ready") } };`);
  const status = readFileSync(`/proc/${script.workerdPid}/status`, "utf8");
  assert.match(status, /^Name:\s+workerd$/m);
  assert.match(status, /^NoNewPrivs:\s+1$/m);
  assert.match(status, /^Seccomp:\s+2$/m);
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
    assert.match(status, new RegExp(`^${set}:\\s+0+$`, "m"));
  }
  if (process.getuid?.() === 0) assert.match(status, /^Uid:\s+65534\s+65534\s+65534\s+65534$/m);
  script.kill();
  await script.ended;
  await assert.rejects(script.get("/"));
});

test("buffers and heap beyond the limit of memory end in an error, not in memory", options, async (t) => {
  const memoryBytes = 128 * 1024 * 1024;
  const script = await startScript(
    t,
    `const kept = [];
    export default { async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/buffers") for (;;) kept.push(new Uint8Array(1 << 24).fill(1));
      if (pathname === "/heap") for (;;) kept.push(new Array(1000).fill({}).map(() => ({ a: [1] })));
      return new Response("ready");
    } };`,
    { memoryBytes },
  );
  assert.equal((await script.get("/buffers")).status, 500);
  const status = readFileSync(`/proc/${script.workerdPid}/status`, "utf8");
  const peak = 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
  // The pages of the program are resident, too, in addition to its data.
  assert.ok(peak > 64 * 1024 * 1024 && peak < memoryBytes + 100 * 1024 * 1024, `${peak} bytes`);
  await assert.rejects(script.get("/heap"));
  assert.notEqual(await script.ended, 0);
});

test("the threads of other sandboxes do not count towards the limit of threads", options, async (t) => {
  const code = `export default { fetch() { return new Response("ready") } };`;
  const { workerdPid } = await startScript(t, code);
  const threads = Number(/^Threads:\s+(\d+)$/m.exec(tryRead(`/proc/${workerdPid}/status`))?.[1]);
  for (let count = 0; count < 3; count++) await startScript(t, code, { threads: threads + 1 });
});

test("workerd ends when the process that started it is killed", options, async (t) => {
  const folder = await makeFolder(t);
  const program = join(folder, "parent.mjs");
  const scene = new URL("./scene.js", import.meta.url).href;
  writeFileSync(
    program,
    `import { startScript } from "${scene}";
    const script = await startScript({ after() {} }, 'export default { fetch() { return new Response("ready") } };');
    console.log("started", script.workerdPid);
    await script.ended;`,
  );
  // The parent leaves its folders behind, inside the folder of this test.
  const env = { ...process.env, TMPDIR: folder };
  const parent = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => parent.kill("SIGKILL"));
  let pid: string | undefined;
  for await (const line of createInterface({ input: parent.stdout })) {
    pid = /^started (\d+)$/.exec(line)?.[1];
    if (pid !== undefined) break;
  }
  assert.match(tryRead(`/proc/${pid}/status`), /^Name:\s+workerd$/m);
  parent.kill("SIGKILL");
  await once(parent, "exit");
  while (/^State:\s+[^ZX]/m.test(tryRead(`/proc/${pid}/status`))) await delay(20);
});

test("a limit of threads below the need of workerd keeps it from starting", options, async (t) => {
  const script = startScript(t, `export default { fetch() { return new Response("ready") } };`, {
    threads: 1,
  });
  await assert.rejects(script, /workerd ended/);
});

test("a script cannot read files of the machine", options, async (t) => {
  const script = await startScript(
    t,
    `import fs from "node:fs";
    export default { async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/") return new Response("ready");
      try { return new Response(fs.readFileSync(pathname)) } catch (error) { return new Response("refused: " + error.code) }
    } };`,
  );
  for (const path of ["/etc/passwd", "/proc/self/environ", "/sockets/main", "/script/config.capnp"]) {
    assert.match((await script.get(path)).body, /^refused: /, path);
  }
});

function tryRead(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
