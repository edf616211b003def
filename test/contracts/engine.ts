// The contract of the engine: guarantees that the binding does not expose.
import { describe, test } from "node:test";
import { buckets } from "./engine/buckets.ts";
import { encryptions } from "./engine/encryption.ts";
import { events } from "./engine/events.ts";
import { expiry } from "./engine/expiry.ts";
import { leftovers } from "./engine/leftovers.ts";
import { locks } from "./engine/locks.ts";
import { openUploads } from "./engine/open-uploads.ts";
import { quotas } from "./engine/quotas.ts";
import { races } from "./engine/races.ts";
import { reads } from "./engine/reads.ts";
import { restores } from "./engine/restore.ts";
import { rotations } from "./engine/rotation.ts";
import { settings } from "./engine/settings.ts";
import { clock, type OpenEngine } from "./engine/setup.ts";
import { sources } from "./engine/sources.ts";
import { uploadListing } from "./engine/upload-listing.ts";
import { uploads } from "./engine/uploads.ts";
import { versionRules } from "./engine/version-rules.ts";
import { versions } from "./engine/versions.ts";
import { writes } from "./engine/writes.ts";

const chapters = {
  reads,
  writes,
  sources,
  uploads,
  "upload listings": uploadListing,
  leftovers,
  races,
  events,
  encryption: encryptions,
  "rotation and encryption of existing objects": rotations,
  versions,
  locks,
  restores,
  "lifecycle rules of versions": versionRules,
};

export function engineContract(name: string, open: OpenEngine): void {
  describe(`the engine on ${name} fulfils its contract`, () => {
    buckets(open);
    expiry(open);
    settings(open);
    openUploads(open);
    quotas(open);
    for (const [title, chapter] of Object.entries(chapters)) {
      test(`the engine fulfils the contract of ${title}`, async (t) => {
        const time = clock();
        await chapter(t, { ...(await open(t, time)), time });
      });
    }
  });
}
