// Reloads a script 500 times; prints memory and median reload time after every 50 reloads. Run it
// by hand: `node build/test/script/supervisor/reloads.js [COUNT]`.
import { type TestContext, test } from "node:test";
import { descendantsOf, residentMemory, scriptProcesses, until } from "../inside.ts";
import { scriptScene } from "../scene.ts";

const total = Number(process.argv[2] ?? 500);

function version(n: number): string {
  // Makes the script about as large as a script with a few packages.
  const ballast = JSON.stringify("x".repeat(100_000 + n));
  return `const ballast = ${ballast};\nexport default { fetch: () => new Response(String(${n} + ballast.length)) };\n`;
}

test(`memory and time of ${total} reloads are printed`, async (t: TestContext) => {
  const scene = await scriptScene(t, version(0));
  const server = await scene.start("dev");
  const times: number[] = [];
  for (let n = 1; n <= total; n++) {
    const from = server.log().length;
    await scene.write("src/index.ts", version(n));
    const [, milliseconds] = await server.told(/reloaded in (\d+) ms/, from);
    times.push(Number(milliseconds));
    // A change may be detected twice, so the log line may belong to the previous change.
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
