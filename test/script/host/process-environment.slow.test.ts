// Scripts cannot read secrets of the operator from the server's environment variables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptScene } from "../scene.ts";

const source = `
const atLoad = JSON.stringify(process.env);
export default {
  fetch: (request, { BUCKET, ...env }) => Response.json({ atLoad: JSON.parse(atLoad), now: process.env, env }),
};`;

const key = "5f".repeat(32);

/** Variables of the server. The script must see neither `key` nor "hidden" in any value. */
const secrets = {
  STORE_SECRET_KEY: key,
  STORE_READS: "usual",
  AWS_SECRET_ACCESS_KEY: "hidden-aws",
  PGPASSWORD: "hidden-pg",
  GITHUB_TOKEN: "hidden-token",
  MY_PASSWORD: "hidden-password",
  NODE_OPTIONS: "--title=hidden-options",
  npm_config__authToken: "hidden-npm",
};

const passed = {
  TZ: "Europe/Paris",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  NO_COLOR: "1",
  SSL_CERT_DIR: "/etc/ssl/certs",
  no_proxy: "example.com",
  NO_PROXY: "example.org",
};

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: a script sees no secret of the server in process.env or env`, async (t) => {
    const scene = await scriptScene(t, source, '[vars]\nGREETING = "hello"');
    const { ask } = await scene.start(mode, { environment: { ...secrets, ...passed } });
    const { text } = await ask("/");
    assert.doesNotMatch(text, /hidden/);
    assert.ok(!text.includes(key));
    const { atLoad, now, env } = JSON.parse(text) as Record<string, Record<string, string>>;
    assert.deepEqual(env, { GREETING: "hello" });
    assert.deepEqual(now, atLoad);
    for (const name of Object.keys(secrets)) assert.equal(now![name], undefined, name);
    assert.deepEqual(
      Object.keys(now!).filter((name) => name.startsWith("STORE_")),
      [],
    );
    for (const [name, value] of Object.entries(passed)) assert.equal(now![name], value, name);
    assert.ok(now!.PATH);
  });
}
