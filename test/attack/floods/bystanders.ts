// Clients that ask every port while it is attacked, in a process of their own, and the server's
// memory before and after.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeText } from "../../../src/http/sigv4.ts";
import { probeOnce } from "../../proof/overload/checks.ts";
import type { ProbeCalls, ProbedPlace } from "../../proof/overload/probe.ts";
import { signRaw } from "../../s3/raw.ts";
import { until } from "../../script/inside.ts";
import { startCalledProcess } from "../../support/called-process.ts";
import { treeCpuMilliseconds, treeMemory } from "../../support/process-tree.ts";
import type { PortName, Target } from "../target.ts";

const MiB = 1024 * 1024;
/** Probes that may be late: a busy machine may suspend the whole test between two measurements. */
const maxLate = 1;

export interface Bystanders {
  /** Runs the attack while the ports are probed; asserts that each answers within a second. */
  during<T>(what: string, attack: () => Promise<T>): Promise<T>;
  /** Asserts that the server has released its memory but for this many bytes. */
  assertMemory(what: string, maxGrowth: number): Promise<void>;
}

/** Waits until the server has read everything that clients have sent to the port. */
export function untilRead(port: number): Promise<void> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const unread = () =>
    readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, address = ""]) => address.endsWith(local))
      .some(([, , , , queues = ""]) => !queues.endsWith(":00000000"));
  return until(() => !unread(), `everything sent to port ${port} is read`);
}

/** Probes with requests that need a signature, a script, the page and a public object, but `unasked`. */
export async function openBystanders(
  t: TestContext,
  target: Target,
  unasked: readonly PortName[] = [],
): Promise<Bystanders> {
  const { server, ports, url, key, call } = target;
  assert.equal(
    (await call({ method: "PUT", path: "/bucket/small", body: Buffer.from("small") })).status,
    200,
  );
  const signed = signRaw(
    url,
    { method: "GET", path: "/bucket/small" },
    { key, form: "query", expires: 604_800 },
  );
  const query = signed.query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&");
  const program = fileURLToPath(new URL("../../proof/overload/probe.js", import.meta.url));
  const probe = startCalledProcess<ProbeCalls>(program);
  t.after(() => probe.end());
  const allPlaces: readonly (ProbedPlace & { readonly name: PortName })[] = [
    { name: "s3", port: ports.s3, path: `/bucket/small?${query}` },
    { name: "script", port: ports.script, path: "/good" },
    { name: "console", port: ports.console, path: "/healthz" },
    { name: "public", port: ports.public, path: "/site/hello" },
  ];
  const places = allPlaces.filter(({ name }) => !unasked.includes(name));
  for (let round = 0; round < 20; round++) await probe.call("now", places);
  const before = treeMemory(server.pid);
  return {
    async during(what, attack) {
      let isOver = false;
      let probes = 0;
      let slowest = 0;
      const late: string[] = [];
      const cpu = treeCpuMilliseconds(server.pid);
      const probing = (async () => {
        while (!isOver) {
          const probed = await probeOnce({ probe, server }, places);
          probes++;
          slowest = Math.max(slowest, probed.slowest - probed.waited);
          late.push(...probed.slow);
        }
      })();
      const outcome = await attack().finally(() => {
        isOver = true;
      });
      await probing;
      const worked = treeCpuMilliseconds(server.pid) - cpu;
      t.diagnostic(`${what}: ${probes} probes, the slowest ${slowest} ms; processor time ${worked} ms`);
      assert.ok(late.length <= maxLate, `${what}: ${late.join("; ")}`);
      return outcome;
    },
    async assertMemory(what, maxGrowth) {
      let growth = Number.POSITIVE_INFINITY;
      await until(
        () => {
          growth = Math.min(growth, treeMemory(server.pid) - before);
          return growth < maxGrowth;
        },
        `${what}: memory has grown by at most ${maxGrowth / MiB} MiB`,
      );
      t.diagnostic(`${what}: memory ${Math.round(before / MiB)} MiB, grown by ${Math.round(growth / MiB)}`);
    },
  };
}
