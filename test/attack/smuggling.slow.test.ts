// HTTP request smuggling on every port: a request with ambiguous framing is refused, a second
// request hidden in its body is not executed, and the next client is served.
import assert from "node:assert/strict";
import { test } from "node:test";
import { framings, requestPairs } from "./framings.ts";
import { type Exchanged, exchange, openTarget, type PortName } from "./target.ts";

/** Matches framings with a fault in the body. A GET may be answered before its body is parsed. */
const isInBody = /chunk's size|chunk larger|negative chunk/;

function assertRefusedOnce({ statuses, text }: Exchanged, what: string, name: PortName): void {
  assert.ok(statuses.length <= 1, `${what}: at most one response, not ${statuses.join(", ")}`);
  if (name === "public" && isInBody.test(what)) return;
  const [status = 400] = statuses;
  assert.ok(status >= 400, `${what}: refused, not ${text.slice(0, 300)}`);
}

test("a request with ambiguous framing is refused, and a request hidden in its body is not executed", async (t) => {
  const target = await openTarget(t);
  const isStored = async (key: string) =>
    (await target.call({ method: "HEAD", path: `/bucket/${key}` })).status !== 404;
  for (const name of Object.keys(target.ports) as PortName[]) {
    await t.test(`request smuggling on the ${name} port fails`, async (t) => {
      for (const [what, frame] of Object.entries(framings)) {
        await t.test(`request smuggling by ${what} fails on the ${name} port`, async () => {
          for (const key of ["first", "smuggled"])
            await target.call({ method: "DELETE", path: `/bucket/${key}` });
          const { first, second } = requestPairs(target)[name];
          const found = await exchange(target.ports[name], first + frame(second));
          assertRefusedOnce(found, what, name);
          if (what === "gzip, chunked" && name === "s3") assert.deepEqual(found.statuses, [501]);
          assert.equal(await isStored("smuggled"), false, `${what}: the second request was executed`);
          assert.equal(await isStored("first"), false, `${what}: the first request was executed`);
          await target.assertServes(name);
        });
      }
    });
  }
  target.assertSameProcesses();
});
