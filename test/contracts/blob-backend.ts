// The contract of a blob backend, for any implementation: bytes are written once under an id, read
// by range with verification, and removed.
import { describe, type TestContext, test } from "node:test";
import { contents } from "./blob-backend/contents.ts";
import { damages } from "./blob-backend/damages.ts";
import { names } from "./blob-backend/names.ts";
import type { OpenedShelf } from "./blob-backend/setup.ts";

export function shelfContract(name: string, open: (t: TestContext) => Promise<OpenedShelf>): void {
  describe(`a blob backend on ${name} fulfils its contract`, () => {
    for (const [title, chapter] of Object.entries({ contents, names, damages })) {
      test(`a blob backend fulfils the contract of ${title}`, async (t) => chapter(t, await open(t)));
    }
  });
}
