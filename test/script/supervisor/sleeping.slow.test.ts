// More scripts than run at a time: those that are not used sleep, and start at their next request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene, writeScript } from "../scene.ts";

const source = `
console.log("loaded");
export default {
  fetch: (request, env) => new Response(env.NAME + " " + (env.SECRET ?? "none")),
};`;

test("scripts above --max-scripts start at their first request, sleep unused, and wake with new secrets", async (t) => {
  const scene = await openScene(t);
  const names = ["one", "two", "three"];
  const configs: string[] = [];
  for (const name of names) {
    const config = `routes = ["${name}.example/*"]\n[vars]\nNAME = "${name}"`;
    configs.push(await writeScript(scene, { name, source, config }));
  }
  const { ask, log, told } = await scene.start("serve", { configs, args: ["--max-scripts", "1"] });
  const get = async (name: string) => (await ask({ headers: { host: `${name}.example` } })).text;
  assert.equal(await get("one"), "one none");
  assert.match(log(), /^\[one\] loaded$/m);
  assert.doesNotMatch(log(), /^\[(two|three)\] loaded$/m);
  assert.deepEqual(await Promise.all(["two", "two"].map(get)), ["two none", "two none"]);

  // A script that was used in the last seconds stays awake, so this takes some requests.
  const asleep = told(/^.*Script "one" sleeps/m).then(() => true);
  while (!(await Promise.race([asleep, get("two").then(() => false)])));
  await scene.secret("SECRET", "new", configs[0]);
  assert.equal(await get("one"), "one new");
  assert.equal(await get("two"), "two none");
  assert.equal(await get("three"), "three none");
});

test("a script that cannot be started at its first request answers 503, and the log says why", async (t) => {
  const scene = await openScene(t);
  const write = (name: string, code: string) =>
    writeScript(scene, { name, source: code, config: `routes = ["${name}.example/*"]` });
  const configs = [await write("good", source), await write("broken", 'throw new Error("not today");')];
  const { ask, told } = await scene.start("serve", { configs, args: ["--max-scripts", "1"] });
  const { status } = await ask({ headers: { host: "broken.example" } });
  assert.equal(status, 503);
  await told(/Script "broken" could not be started: .*not today/);
  assert.equal((await ask({ headers: { host: "good.example" } })).status, 200);
});
