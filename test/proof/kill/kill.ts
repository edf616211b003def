// The kill proof with checks of the files on disk, which only tests know.
import assert from "node:assert/strict";
import { createKillProof } from "../../../src/prove/kill/kill.ts";
import { assertNothingLeftOver, countUploads } from "../../support/disk/on-disk.ts";
import { assertRecoveredFiles } from "../../support/kill/checked-journal.ts";

export const kill = createKillProof({
  afterRecovery: assertRecoveredFiles,
  afterExpiry(directory) {
    assertNothingLeftOver(directory);
    assert.equal(countUploads(directory), 0, "no upload record remains after expiry");
  },
});
