// The order of versions in a directory: any sequence of changes, and clocks that go back.
import { type TestContext, test } from "node:test";
import { openLocal } from "../../../src/local/open.ts";
import { assertVersionSequences } from "../../contracts/records/version-sequences.ts";
import { temporaryDirectory } from "../../support/stores.ts";

async function openPorts(t: TestContext) {
  const ports = await openLocal(await temporaryDirectory(t));
  t.after(() => ports.records.close());
  return ports;
}

test("any sequence of changes leaves the versions, listings and garbage of the records in memory", async (t) => {
  await assertVersionSequences(await openPorts(t), 40);
});
