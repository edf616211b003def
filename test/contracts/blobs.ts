// The contract of the Blobs port, for any implementation: bytes are written once, read by range and
// removed.
import { describe, type TestContext, test } from "node:test";
import { contents } from "./blobs/contents.ts";
import { lifetimes } from "./blobs/lifetimes.ts";
import { type OpenedBlobs, share } from "./blobs/setup.ts";

export function blobsContract(name: string, open: (t: TestContext) => Promise<OpenedBlobs>): void {
  describe(`the blobs port in ${name} fulfils its contract`, () => {
    for (const [title, chapter] of Object.entries({ contents, lifetimes })) {
      test(`the blobs port fulfils the contract of ${title}`, async (t) => chapter(t, await share(t, open)));
    }
  });
}
