// Scripts that attack while they are loaded. The neighbour keeps answering, and a repaired version
// of the script is loaded afterwards.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../script/client.ts";
import { isAlive, until } from "../../script/inside.ts";
import { skip } from "../../script/sandbox/requirements.ts";
import { openScene, writeScript } from "../../script/scene.ts";

const answering = (text: string) => `export default { fetch: () => new Response("${text}") };`;

const hostile: Readonly<Record<string, string>> = {
  "loops forever": `for (;;) {}\n${answering("bad")}`,
  "fills memory": `const hoard = []; for (;;) hoard.push(new Array(100_000).fill({}));\n${answering("bad")}`,
  "throws an error": `throw new Error("at load");\n${answering("bad")}`,
  "throws nothing": `throw undefined;\n${answering("bad")}`,
  "awaits forever": `await new Promise(() => {});\n${answering("bad")}`,
  "exports a getter that loops": `export default { get fetch() { for (;;); } };`,
  "exports nothing": `console.log("nothing");`,
  "imports a file of the machine": `import text from "/etc/passwd";\nexport default { fetch: () => new Response(text) };`,
  "has 20 MB of code": `const text = "${"x".repeat(20 << 20)}";\nexport default { fetch: () => new Response(String(text.length)) };`,
  "is nested deeply": `const value = ${"[".repeat(5000)}${"]".repeat(5000)};\nexport default { fetch: () => new Response(String(value.length)) };`,
};

test("scripts that attack while they are loaded are contained", { skip }, async (t) => {
  const scene = await openScene(t);
  const configs = [
    await writeScript(scene, {
      name: "bad",
      source: answering("version 0"),
      config: 'isolation = "sandbox"\nroutes = ["bad.example/*"]',
    }),
    await writeScript(scene, { name: "good", source: answering("good"), config: 'isolation = "sandbox"' }),
  ];
  const server = await scene.start("dev", { configs });
  const askBad = async () => (await ask(server.port, { headers: { host: "bad.example" } })).text;
  assert.equal(await askBad(), "version 0");
  let version = 0;
  for (const [what, source] of Object.entries(hostile)) {
    await t.test(`a script that ${what} while it is loaded is contained`, async () => {
      const from = server.log().length;
      await scene.write("bad/src/index.ts", source);
      const reported = server.told(/bad/, from);
      let isReported = false;
      void reported.finally(() => {
        isReported = true;
      });
      for (let i = 0; i < 50 || !isReported; i++) {
        const { status, text } = await server.ask("/");
        assert.deepEqual([status, text], [200, "good"]);
      }
      await reported;
      const text = `version ${++version}`;
      await scene.write("bad/src/index.ts", answering(text));
      await until(async () => (await askBad().catch(() => "")) === text, "the repaired script answers");
      assert.ok(isAlive(server.pid));
    });
  }
});
