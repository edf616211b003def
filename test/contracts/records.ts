// The contract of the Records port, for any implementation.
import { describe, test } from "node:test";
import { bucketRecords } from "./records/buckets.ts";
import { commits } from "./records/commits.ts";
import { burials } from "./records/garbage-queue.ts";
import { keySearches } from "./records/key-search.ts";
import { objectRecords } from "./records/objects.ts";
import { outbox } from "./records/outbox.ts";
import { quotas } from "./records/quotas.ts";
import { replacedBodies } from "./records/replaced-bodies.ts";
import { objectScans } from "./records/scans.ts";
import type { OpenRecords } from "./records/setup.ts";
import { uploadRecords } from "./records/uploads.ts";
import { versionRecords } from "./records/versions.ts";

const chapters = {
  objects: objectRecords,
  "scans of objects": objectScans,
  "searches for keys": keySearches,
  versions: versionRecords,
  "replaced bodies": replacedBodies,
  "uploads and parts": uploadRecords,
  commits,
  quotas,
  "the garbage queue": burials,
  "events to deliver": outbox,
};

export function recordsContract(name: string, open: OpenRecords): void {
  describe(`the records port in ${name} fulfils its contract`, () => {
    bucketRecords(open);
    for (const [title, chapter] of Object.entries(chapters)) {
      test(`the records port fulfils the contract of ${title}`, async (t) => chapter(t, await open(t)));
    }
  });
}
