// Builds the Debian package, installs it in a new Debian, runs the server, and removes it again.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../cli/store.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { makeDebian, runIn, whyNoDebian } from "../debian.ts";

test("the Debian package installs, serves, and keeps its data when it is purged", async (t) => {
  const reason = whyNoDebian();
  if (reason !== undefined) return t.skip(reason);
  const out = await temporaryDirectory(t);
  // Debian 12 has an older Node, so the package brings the one that runs this test.
  const build = join(root, "packaging/deb/build");
  const built = spawnSync(build, ["--bundle-node", "--out", out], { encoding: "utf8" });
  assert.equal(built.status, 0, built.stderr);
  const debian = makeDebian("bookworm");
  if (debian === undefined) return t.skip("no Debian mirror is reachable");
  t.after(() => rmSync(debian, { recursive: true, force: true }));
  copyFileSync(built.stdout.trim(), join(debian, "root/store.deb"));
  runIn(debian, "dpkg -i /root/store.deb");

  assert.match(runIn(debian, "getent passwd store"), /:\/var\/lib\/store:\/usr\/sbin\/nologin$/m);
  assert.equal(
    runIn(debian, "stat -c '%a %U' /var/lib/store /etc/store/environment"),
    "700 store\n600 root\n",
  );
  assert.ok(existsSync(join(debian, "etc/systemd/system/multi-user.target.wants")));
  const asStore = "runuser -u store -- env STORE_DATA=/var/lib/store store";
  runIn(debian, `${asStore} bucket create photos`);
  runIn(debian, `echo Hello | ${asStore} object put photos/a -`);
  await serves(debian, asStore);

  // A second installation is an upgrade: the data stays.
  runIn(debian, "dpkg -i /root/store.deb");
  assert.equal(runIn(debian, `${asStore} object get photos/a -`), "Hello\n");
  runIn(debian, "dpkg -P store-server");
  for (const path of ["usr/bin/store", "usr/lib/store-server", "etc/store"])
    assert.ok(!existsSync(join(debian, path)), path);
  assert.ok(existsSync(join(debian, "var/lib/store/registry.db")), "the data stays");
});

/** Starts the server in the Debian, waits until it is ready, and ends it. */
async function serves(debian: string, asStore: string): Promise<void> {
  const command = `cd /var/lib/store && exec ${asStore} serve --s3-port 0 --console-port 0`;
  const server = spawn("chroot", [debian, "sh", "-c", command], {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
  });
  let said = "";
  for await (const text of server.stdout.setEncoding("utf8")) {
    said += text;
    if (said.includes("Data in")) break;
  }
  const [, url = ""] = /^Console on (.*)$/m.exec(said) ?? [];
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  server.kill("SIGTERM");
  await once(server, "close");
}
