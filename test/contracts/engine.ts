// The contract of the engine: what its interface promises beyond what a script can see.
import { describe } from "node:test";
import { buckets } from "./engine/buckets.ts";
import { expiry } from "./engine/expiry.ts";
import { leftovers } from "./engine/leftovers.ts";
import { races } from "./engine/races.ts";
import { reads } from "./engine/reads.ts";
import type { OpenEngine } from "./engine/setup.ts";
import { sources } from "./engine/sources.ts";
import { uploads } from "./engine/uploads.ts";
import { writes } from "./engine/writes.ts";

export function engineContract(name: string, open: OpenEngine): void {
  describe(`engine on ${name}`, () => {
    buckets(open);
    reads(open);
    writes(open);
    sources(open);
    uploads(open);
    expiry(open);
    leftovers(open);
    races(open);
  });
}
