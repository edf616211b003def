// The tiers in which the tests of reference scripts and examples run.
import type { TestContext } from "node:test";
import { skip } from "./sandbox/requirements.ts";
import { openScene, type Scene } from "./scene.ts";

export interface Tier {
  /** End of the titles of tests. */
  readonly suffix: string;
  /** Options of tests: skipped where the tier cannot run. */
  readonly needs: { readonly skip?: string | false };
  open(t: Pick<TestContext, "after">): Promise<Scene>;
}

export const processTier: Tier = { suffix: "", needs: {}, open: openScene };

export const sandboxTier: Tier = {
  suffix: " in a sandbox",
  needs: { skip },
  async open(t) {
    const scene = await openScene(t);
    return {
      ...scene,
      start: (mode, options = {}) =>
        scene.start(mode, { ...options, args: ["--isolation", "sandbox", ...(options.args ?? [])] }),
    };
  },
};
