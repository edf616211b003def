// Connections of scripts that share the descriptors of one process.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionShare } from "../../src/http/server/listen.ts";
import { createFairConnections } from "../../src/script/fair-connections.ts";

/** Begins connections until the share refuses one; returns the functions that end them. */
function fill(share: ConnectionShare): (() => void)[] {
  const ends: (() => void)[] = [];
  for (let end = share.begin(); end !== undefined; end = share.begin()) ends.push(end);
  return ends;
}

test("each script may hold as many connections as are free", () => {
  // 128 of 328 descriptors are reserved, and a connection takes two.
  const fair = createFairConnections(328, { processes: 1, ports: 1 });
  const greedy = fill(fair.share("greedy"));
  assert.equal(greedy.length, 50, "one script holds half");
  assert.equal(fill(fair.share("greedy")).length, 0, "another socket of the same script gets none");
  const second = fill(fair.share("second"));
  assert.equal(second.length, 25);
  assert.equal(fill(fair.share("third")).length, 13, "some are always left");
  for (const end of [...greedy, ...second]) end();
  assert.equal(fill(fair.share("second")).length, 44, "ended connections are free again");
});
