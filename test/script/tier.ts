// The tiers in which the tests of reference scripts and examples run.
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { findWorkerd, linkWorkerd, needsWorkerd } from "../support/workerd.ts";
import { example, openScene, type Scene } from "./scene.ts";

export interface TierScene extends Scene {
  /** Returns the path of an example's configuration. */
  example(name: string): Promise<string>;
}

export interface Tier {
  /** End of the titles of tests. */
  readonly suffix: string;
  /** Options of tests: skipped where the tier cannot run. */
  readonly needs: { readonly skip?: string | false };
  open(t: Pick<TestContext, "after">): Promise<TierScene>;
}

export const processTier: Tier = {
  suffix: "",
  needs: {},
  async open(t) {
    return { ...(await openScene(t)), example: async (name) => example(name) };
  },
};

const workerd = findWorkerd();

export const sandboxTier: Tier = {
  suffix: " in a sandbox",
  needs: needsWorkerd(workerd),
  async open(t) {
    const scene = await openScene(t);
    await linkWorkerd(workerd!, scene.directory);
    return {
      ...scene,
      // A copy next to the runtime, which is searched above the script's folder.
      async example(name) {
        await cp(dirname(example(name)), join(scene.directory, name), { recursive: true });
        return join(scene.directory, name, "store.toml");
      },
      start: (mode, options = {}) =>
        scene.start(mode, { ...options, args: ["--isolation", "sandbox", ...(options.args ?? [])] }),
    };
  },
};
