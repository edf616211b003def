// `store dev` and `store serve` with wrangler files: buckets, environments, development variables,
// routes, builds.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openScene, type Scene } from "../../script/scene.ts";

const head = 'name = "gallery"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n';

const source = `export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/title") return new Response(String(env.TITLE));
    if (pathname === "/db") return new Response(await env.DB.prepare("SELECT 1"));
    await env.FILES.put("a/b", "x");
    const { delimitedPrefixes } = await env.FILES.list({ delimiter: "/" });
    return Response.json(delimitedPrefixes);
  },
};
`;

async function openProject(t: Parameters<typeof openScene>[0], config: string): Promise<Scene> {
  const scene = await openScene(t);
  await scene.write("src/index.ts", source);
  await scene.write("wrangler.toml", config);
  return scene;
}

test("dev runs an unedited wrangler project, creates its bucket and reports unsupported features", async (t) => {
  const scene = await openProject(
    t,
    `${head}route = "gallery.example.com/*"
workers_dev = false
r2_buckets = [{ binding = "FILES", bucket_name = "files" }]
d1_databases = [{ binding = "DB" }]
`,
  );
  const server = await scene.start("dev");
  assert.match(server.log(), /^wrangler\.toml: these keys have no effect in Store: workers_dev\.$/m);
  assert.match(server.log(), /^wrangler\.toml: Store does not have DB \(a D1 database\)/m);
  assert.match(server.log(), /^Created bucket files\.$/m);
  assert.equal((await server.ask("/")).text, '["a/"]');
  const failed = await server.ask("/db");
  assert.equal(failed.status, 500);
  assert.match(failed.text, /env\.DB is a D1 database, which Store does not have/);
});

test("dev creates the buckets of a wrangler file, and serve requires them", async (t) => {
  const scene = await openProject(t, `${head}r2_buckets = [{ binding = "FILES", bucket_name = "files" }]\n`);
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  const told = await scene.shell.fails(1, ["serve", ...ports]);
  assert.match(told, /wrangler\.toml:4:50: There is no bucket "files"\.[\s\S]*store bucket create files/);
  const child = scene.shell.start(["dev", ...ports]);
  const text = await new Promise<string>((resolve, reject) => {
    let log = "";
    child.stderr.on("data", (piece) => {
      log += piece;
      if (log.includes("Created bucket")) resolve(log);
    });
    child.once("close", () => reject(new Error(log)));
  });
  // Wait for the process to end, so that the data directory can be removed.
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
  assert.match(text, /Created bucket files\./);
});

test("--env and -e choose an environment for dev, types and secrets", async (t) => {
  const scene = await openProject(t, `${head}[vars]\nTITLE = "top"\n[env.staging.vars]\nTITLE = "staging"\n`);
  const server = await scene.start("dev", { args: ["--env", "staging"] });
  assert.equal(server.announced.scripts[0]!.name, "gallery-staging");
  assert.equal((await server.ask("/title")).text, "staging");
  const { stdout, code } = await scene.shell.run(["secret", "put", "KEY", "-e", "staging"], { input: "x" });
  assert.deepEqual([stdout, code], ["Set KEY of script gallery-staging.\n", 0]);
  assert.match(await scene.shell.store("types", "-e", "staging"), /^Wrote/);
  const told = await scene.shell.fails(1, ["types", "--env", "stagng"]);
  assert.match(told, /There is no environment "stagng": did you mean staging\?/);
});

/** Replaces .dev.vars atomically: otherwise the server could read it while it is still empty. */
async function replaceVars(scene: Scene, text: string): Promise<void> {
  await scene.write("new.vars", text);
  await rename(join(scene.directory, "new.vars"), join(scene.directory, ".dev.vars"));
}

test(".dev.vars overrides variables and secrets in dev, and a change of the file reloads the script", async (t) => {
  const scene = await openProject(t, `${head}[vars]\nOTHER = "x"\n`);
  await scene.secret("TITLE", "the secret", "wrangler.toml");
  await scene.write(".dev.vars", "TITLE=first\n");
  const server = await scene.start("dev");
  assert.equal((await server.ask("/title")).text, "first");
  let from = server.log().length;
  await replaceVars(scene, "TITLE=second\n");
  await server.told(/changed: reloaded/, from);
  assert.equal((await server.ask("/title")).text, "second");
  from = server.log().length;
  await replaceVars(scene, "TITLE\n");
  await server.told(/\.dev\.vars:1:1: This line is not of the form NAME=value/, from);
  assert.equal((await server.ask("/title")).text, "second");
  await server.stop();
  const serving = await scene.start("serve");
  assert.equal((await serving.ask("/title")).text, "the secret");
});

test("the build command runs before dev, and its failure is reported", async (t) => {
  const scene = await openScene(t);
  await scene.write("source.txt", "export default { fetch: () => new Response('built') };");
  const config = (command: string) =>
    `name = "built"\nmain = "out/index.js"\ncompatibility_date = "2026-01-01"\n[build]\ncommand = "${command}"\n`;
  await scene.write("wrangler.toml", config("mkdir -p out && cp source.txt out/index.js"));
  const server = await scene.start("dev");
  assert.equal((await server.ask("/")).text, "built");
  assert.match(server.log(), /^Running the build command of wrangler\.toml: mkdir -p out/m);
  await server.stop();
  await scene.write("wrangler.toml", config("exit 3"));
  const told = await scene.shell.fails(1, ["dev", "--port", "0", "--s3-port", "0", "--console-port", "0"]);
  assert.match(told, /The build command failed: it exited with 3\./);
});

test("store.toml is preferred to a wrangler file, and a note says so", async (t) => {
  const scene = await openProject(t, "not even TOML");
  await scene.write("store.toml", `${head}vars = { TITLE = "ours" }\n`);
  const server = await scene.start("dev");
  assert.match(server.log(), /^Using store\.toml; wrangler\.toml is ignored\.$/m);
  assert.equal((await server.ask("/title")).text, "ours");
});

test("dev and serve run the file on the command line instead of main", async (t) => {
  const scene = await openScene(t);
  await scene.write("wrangler.toml", 'name = "gallery"\ncompatibility_date = "2026-01-01"\n');
  await scene.write("other.js", 'export default { fetch: () => new Response("other") };');
  for (const mode of ["dev", "serve"] as const) {
    const server = await scene.start(mode, { args: ["other.js"] });
    assert.equal((await server.ask("/")).text, "other", mode);
    await server.stop();
  }
});

const wrongFiles: readonly (readonly [readonly string[], RegExp, 1 | 2])[] = [
  [["gone.js"], /There is no script "gone\.js"\./, 1],
  [["wrangler.toml"], /"wrangler\.toml" is a configuration, not a script\.\s+Use it with: --config/, 2],
  [["src/index.ts", "--config", "a.toml", "--config", "b.toml"], /there are several/, 2],
  [["src/index.ts"], /There is no store\.toml/, 1],
];

test("a file on the command line that is not a script of the project is refused", async (t) => {
  const scene = await openScene(t);
  await scene.write("src/index.ts", source);
  for (const mode of ["dev", "serve"]) {
    for (const [args, expected, code] of wrongFiles) {
      assert.match(await scene.shell.fails(code, [mode, ...args]), expected, `${mode} ${args.join(" ")}`);
    }
  }
});
