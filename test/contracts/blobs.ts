// The contract of the Blobs port: bytes written once, read by range, removed, for any implementation.
import { describe, type TestContext, test } from "node:test";
import { contents } from "./blobs/contents.ts";
import { lifetimes } from "./blobs/lifetimes.ts";
import { type OpenedBlobs, share } from "./blobs/setup.ts";

export function blobsContract(name: string, open: (t: TestContext) => Promise<OpenedBlobs>): void {
  describe(`blobs in ${name}`, () => {
    for (const [title, chapter] of Object.entries({ contents, lifetimes })) {
      test(title, async (t) => chapter(t, await share(t, open)));
    }
  });
}
