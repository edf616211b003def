// Five hundred reloads of one script, and what they cost: run by hand, prints the memory of the supervisor
// after 50 and at the end, and how long a reload takes.
//
//   node build/test/script/reloads.js [COUNT]
import { type TestContext, test } from "node:test";
import { descendantsOf, residentMemory, scriptProcesses, until } from "../inside.ts";
import { scriptScene } from "../scene.ts";

const total = Number(process.argv[2] ?? 500);

function version(n: number): string {
  // Of some size, as scripts with a few packages are.
  const ballast = JSON.stringify("x".repeat(100_000 + n));
  return `const ballast = ${ballast};\nexport default { fetch: () => new Response(String(${n} + ballast.length)) };\n`;
}

test(`${total} reloads`, async (t: TestContext) => {
  const scene = await scriptScene(t, version(0));
  const server = await scene.start("dev");
  const times: number[] = [];
  for (let n = 1; n <= total; n++) {
    const from = server.log().length;
    await scene.write("src/index.ts", version(n));
    const [, milliseconds] = await server.told(/reloaded in (\d+) ms/, from);
    times.push(Number(milliseconds));
    // One change may be seen twice: what is told then is still of the change before.
    const isNew = async () => (await server.ask("/")).text === String(n + 100_000 + n);
    await until(isNew, `reload ${n} answers`);
    if (n % 50 === 0) {
      await until(() => scriptProcesses(server.pid).length === 2, "one process serves, one is spare");
      const median = times.splice(0).sort((a, b) => a - b)[25];
      const memory = (residentMemory(server.pid) / 1024 / 1024).toFixed(1);
      const processes = descendantsOf(server.pid).length;
      console.log(`${n} reloads: supervisor ${memory} MiB, ${processes} processes, a reload ${median} ms`);
    }
  }
});
