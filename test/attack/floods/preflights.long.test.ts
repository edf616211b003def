// Floods of CORS preflights, which need no signature, on a bucket with as many rules as one can have.
import assert from "node:assert/strict";
import { test } from "node:test";
import { maxCorsRules } from "../../../src/model/settings/rule-check.ts";
import { type Asked, ask } from "../../script/client.ts";
import { mainThreadMilliseconds } from "../../support/process-tree.ts";
import { openTarget } from "../target.ts";
import { openBystanders } from "./bystanders.ts";

const requests = 600;
const atOnce = 32;
/** Work of the supervisor for one preflight, of which most is that of any request. */
const maxMillisecondsEach = 10;

/** As many rules as a bucket may have, with as many headers as fit into the document. */
function largestRules(): string {
  const values = 9;
  const rules = Array.from({ length: maxCorsRules }, (_, rule) => {
    const headers = Array.from(
      { length: values },
      (_, index) => `<AllowedHeader>x-${rule}-${index}-*</AllowedHeader>`,
    );
    const origin =
      rule === maxCorsRules - 1 ? "https://*.example" : `https://*.${"a".repeat(40)}${rule}.example`;
    return `<CORSRule><AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod>${headers.join("")}</CORSRule>`;
  });
  return `<CORSConfiguration>${rules.join("")}</CORSConfiguration>`;
}

test("preflights with thousands of names delay no other client of the public port and the S3 API", async (t) => {
  const target = await openTarget(t);
  const body = Buffer.from(largestRules());
  const stored = await target.call({ method: "PUT", path: "/site", query: [["cors", ""]], body });
  assert.equal(stored.status, 200, stored.text);
  const bystanders = await openBystanders(t, target);
  const lists = {
    "7,000 short names": "a,".repeat(7000),
    "names that no rule allows": Array.from({ length: 1500 }, (_, index) => `x-9-${index}`).join(),
    "names of stars": "x-99-*-".repeat(2000),
  };
  for (const [what, names] of Object.entries(lists)) {
    for (const port of ["public", "s3"] as const) {
      await t.test(`a flood of preflights with ${what} on the ${port} port delays nobody`, async () => {
        const asked: Asked = {
          ...{ method: "OPTIONS", path: "/site/hello" },
          headers: {
            origin: `https://${"a".repeat(500)}.example`,
            "access-control-request-method": "GET",
            "access-control-request-headers": names,
          },
        };
        const began = mainThreadMilliseconds(target.server.pid);
        await bystanders.during(`preflights with ${what} on the ${port} port`, async () => {
          let left = requests;
          const client = async () => {
            while (left-- > 0) {
              const { status, headers } = await ask(target.ports[port], asked);
              assert.ok(status === 403 || status === 405, `${status}`);
              assert.equal(headers["access-control-allow-origin"], undefined);
            }
          };
          await Promise.all(Array.from({ length: atOnce }, client));
        });
        const each = (mainThreadMilliseconds(target.server.pid) - began) / requests;
        assert.ok(each < maxMillisecondsEach, `${each.toFixed(1)} ms of the supervisor for each preflight`);
        t.diagnostic(`${what} on the ${port} port: ${each.toFixed(2)} ms of the supervisor for each`);
      });
    }
  }
  target.assertSameProcesses();
});
