// The browser: Debian's Chromium, started once for a file of tests and always by its place.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { type Browser, chromium } from "playwright-core";

const place = "/usr/bin/chromium";

/** What the suite is about, a file each. */
export const topics = [
  "Signing in",
  "Buckets",
  "Objects",
  "Uploading",
  "An object",
  "Hostile content",
  "Keys",
  "Rules",
  "Scripts",
  "Metrics",
] as const;
export type Topic = (typeof topics)[number];

export function titleOf(topic: Topic): string {
  return `${topic}, in a browser`;
}

export function missingPackages(): string[] {
  return existsSync(place) ? [] : ["chromium"];
}

export const launchOptions = {
  executablePath: place,
  // Scroll bars take room, as they do for people.
  ignoreDefaultArgs: ["--hide-scrollbars"],
  // In a container, and for root, Chromium's own sandbox cannot be made.
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
};

/** What pages said on the browser's console that nobody should see there, and faults in them. */
export const complaints: string[] = [];

/** The tests of a topic, or the reason why they cannot be run here. */
export function inBrowser(topic: Topic, run: (t: TestContext, browser: Browser) => Promise<void>): void {
  const skip = existsSync(place)
    ? false
    : "Chromium is not installed, and not to be installed from Debian here";
  test(titleOf(topic), { skip, timeout: 900_000 }, async (t) => {
    const browser = await chromium.launch(launchOptions);
    t.after(() => browser.close());
    await run(t, browser);
    assert.deepEqual(complaints, []);
  });
}
