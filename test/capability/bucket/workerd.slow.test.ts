// The bucket protocol with a real workerd: its own binding on our socket.
import assert from "node:assert/strict";
import { copyFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { getFromSocket, startWorkerd } from "../../support/workerd/start-workerd.ts";
import { openScene } from "./scene.ts";
import { checks } from "./worker.ts";

const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ( name = "main",
      worker = (
        modules = [(name = "worker.js", esModule = embed "worker.js")],
        compatibilityDate = "2026-10-01",
        compatibilityFlags = ["nodejs_compat"],
        bindings = [(name = "BUCKET", r2Bucket = "bucket")],
        globalOutbound = "none",
      )
    ),
    (name = "bucket", external = (address = "unix:SOCKET", http = ())),
    (name = "none", network = (allow = [])),
  ],
  sockets = [(name = "main", address = "unix:MAIN", http = (), service = "main")],
);
`;

test("the bucket of a script in workerd", async (t) => {
  const { path, log } = await openScene(t);
  const directory = dirname(path);
  await copyFile(fileURLToPath(new URL("./worker.js", import.meta.url)), join(directory, "worker.js"));
  const main = join(directory, "main");
  const text = configuration.replace("SOCKET", path).replace("MAIN", main);
  await writeFile(join(directory, "config.capnp"), text);
  await startWorkerd(t, join(directory, "config.capnp"));
  for (const name of Object.keys(checks)) {
    await t.test(name, async () => {
      const { text } = await getFromSocket(main, `/${encodeURIComponent(name)}`);
      assert.equal(text, "passed");
    });
  }
  assert.deepEqual(log, []);
});
