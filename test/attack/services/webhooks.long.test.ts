// A hundred hostile webhook receivers on a real server: a good one beside them gets its events,
// memory stays bounded, and no message goes where the operator did not permit it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { maxRules } from "../../../src/events/rule-check.ts";
import { createNotificationRules } from "../../../src/events/rules.ts";
import { openEngine } from "../../../src/open.ts";
import { loadSecretKey } from "../../../src/secrets/master-key.ts";
import { until } from "../../script/inside.ts";
import { treeMemory } from "../../support/process-tree.ts";
import { openTarget } from "../target.ts";
import { type HostileReceiver, misbehaviours, openHostileReceiver, urlToken } from "./hostile-receivers.ts";

const MiB = 2 ** 20;
/** Address that webhooks may have. Redirects lead to another, which they may not. */
const permitted = "127.0.0.2";
const maxGrowth = 160 * MiB;
const names = Array.from({ length: 20 }, (_, index) => `key-${index}`);

/** A server that redirects lead to, and which must never be asked. */
async function openWitness(t: TestContext) {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

/** Adds a rule for each URL, all with one open store. Returns the secrets of the rules. */
async function addRules(data: string, urls: readonly string[]): Promise<string[]> {
  const { engine, documents } = await openEngine(data);
  const secretKey = () => loadSecretKey(data, undefined);
  const rules = createNotificationRules({ engine, documents, secretKey, listScripts: async () => [] });
  const secrets: string[] = [];
  for (const url of urls) {
    const { secret } = await rules.add("bucket", { target: { kind: "webhook", url } });
    secrets.push(secret!);
  }
  await engine.close();
  return secrets;
}

test("a hundred hostile webhooks delay no event of a good one, and get all events once they are good", async (t) => {
  const target = await openTarget(t, undefined, ["--webhook-allow", permitted]);
  const { server } = target;
  const witness = await openWitness(t);
  const kinds = Object.entries(misbehaviours(witness.port));
  const hostile: HostileReceiver[] = [];
  for (let index = 0; index < maxRules - 1; index++) {
    const [kind, misbehave] = kinds[index % kinds.length]!;
    hostile.push(await openHostileReceiver(t, { kind, misbehave, host: permitted }));
  }
  const good = await openHostileReceiver(t, { kind: "good", host: permitted });
  const secrets = await addRules(
    target.data,
    [...hostile, good].map(({ url }) => url),
  );

  const before = treeMemory(server.pid);
  let peak = 0;
  for (const name of names) {
    const put = await target.call({ method: "PUT", path: `/bucket/${name}`, body: Buffer.from("x") });
    assert.equal(put.status, 200);
    peak = Math.max(peak, treeMemory(server.pid));
  }
  await until(() => good.keys.length >= names.length, "the good receiver has all events");
  assert.deepEqual(good.keys, names);
  await until(() => {
    peak = Math.max(peak, treeMemory(server.pid));
    return hostile.every((receiver) => receiver.connections() > 0);
  }, "all hostile receivers were asked");
  assert.ok(peak - before < maxGrowth, `memory has grown by ${(peak - before) / MiB} MiB`);
  assert.deepEqual(
    hostile.map(({ kind, keys }) => [kind, ...keys]).filter(([, key]) => key),
    [],
  );

  for (const receiver of hostile) receiver.turnGood();
  for (const { kind, keys } of hostile) {
    await until(() => keys.length >= names.length, `the receiver with ${kind} has all events`);
    assert.deepEqual([...new Set(keys)], names, kind);
  }
  assert.equal(witness.requests(), 0);
  const log = server.log();
  for (const secret of [...secrets, urlToken]) assert.ok(!log.includes(secret), log);
  assert.doesNotMatch(log, /[\x00-\x09\x0b-\x1f\x7f-\x9f]|owned/);
  assert.equal(log.match(/Delivery of events failed/g)?.length, hostile.length);
  await target.assertServes();
  target.assertSameProcesses();
});
