// Scripts that respond before they read the body: every upload gets the script's response, also
// through the router and from a sandbox.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeUpload, upload, uploads } from "../../http/early-responses.ts";
import { scriptScene, writeScript } from "../scene.ts";
import { sandboxTier } from "../tier.ts";

const source = `
export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/stream") return new Response(new Blob(["refused"]).stream(), { status: 401 });
    if (pathname === "/part") {
      const reader = request.body.getReader();
      await reader.read();
      await reader.cancel();
    }
    return new Response("refused", { status: 401 });
  },
};`;

const paths = ["/", "/stream", "/part"];
/** So many uploads of each kind and path that each server gets about a thousand. */
const rounds = Math.ceil(1000 / (paths.length * uploads.length));

async function uploadAll(port: number): Promise<void> {
  for (const kind of uploads) {
    for (const path of paths) {
      for (let i = 0; i < rounds; i++) {
        const received = await upload({ host: "127.0.0.1", port }, { ...kind, path });
        assert.match(received, /^HTTP\/1\.1 401 [\s\S]*refused/, `${path} ${describeUpload(kind)}`);
      }
    }
  }
}

test("a script that accepts connections itself responds before it reads the body", async (t) => {
  const scene = await scriptScene(t, source);
  await uploadAll((await scene.start("serve")).port);
});

test("a script behind the router responds before it reads the body", async (t) => {
  const scene = await scriptScene(t, source);
  await uploadAll((await scene.start("dev")).port);
});

test("a script in a sandbox responds before it reads the body", sandboxTier.needs, async (t) => {
  const scene = await sandboxTier.open(t);
  await writeScript(scene, { source });
  await uploadAll((await scene.start("serve")).port);
});
