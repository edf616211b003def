import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnections } from "../../../src/script/sandbox/connections.ts";

test("WebSockets of a sandbox are limited, and one that ends makes room", () => {
  const connections = createConnections(2);
  const [first] = [connections.begin(() => {}), connections.begin(() => {})];
  assert.equal(
    connections.begin(() => {}),
    undefined,
  );
  first!();
  first!();
  assert.ok(connections.begin(() => {}));
  assert.equal(
    connections.begin(() => {}),
    undefined,
  );
});

test("a sandbox that is replaced closes its WebSockets, and accepts no more", () => {
  const connections = createConnections();
  const closed: number[] = [];
  connections.begin(() => closed.push(1));
  const end = connections.begin(() => closed.push(2))!;
  connections.begin(() => closed.push(3));
  end();
  connections.close();
  connections.close();
  assert.deepEqual(closed, [1, 3]);
  assert.equal(
    connections.begin(() => {}),
    undefined,
  );
});
