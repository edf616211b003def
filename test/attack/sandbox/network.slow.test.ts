// Attacks of scripts in sandboxes: they reach for private addresses, and open ports.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { descendantsOf } from "../../script/inside.ts";
import { networkAttacks, redirectAttacks } from "./attacks/network.ts";
import { testAttacks } from "./run-attacks.ts";
import type { Stage } from "./stage.ts";

testAttacks("reach for private addresses", networkAttacks, { outbound: '"public"' });

testAttacks("reach for private addresses through permitted hosts, and open ports", redirectAttacks, {
  outbound: ({ redirector }) => JSON.stringify([`127.0.0.1:${redirector}`]),
  verify: verifyPorts,
});

/** Asserts that sandboxes have a network of their own, in which nothing listens. */
async function verifyPorts({ server, facts }: Stage): Promise<void> {
  const own = readlinkSync("/proc/self/ns/net");
  const pids = descendantsOf(server.pid).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/workerd\0"),
  );
  assert.ok(pids.length >= 2, "each script has a sandbox");
  for (const pid of pids) {
    assert.notEqual(readlinkSync(`/proc/${pid}/ns/net`), own);
    for (const table of ["tcp", "tcp6", "udp", "udp6"]) {
      const [, ...sockets] = readFileSync(`/proc/${pid}/net/${table}`, "utf8").trim().split("\n");
      assert.deepEqual(sockets, [], `${table} of a sandbox`);
    }
  }
  for (const host of ["127.0.0.1", "::1"]) {
    const socket = connect(facts.free, host);
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    assert.match(error.code!, /^(ECONNREFUSED|EADDRNOTAVAIL)$/, "the port is closed");
  }
}
