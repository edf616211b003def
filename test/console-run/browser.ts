// Starts Debian's Chromium by its path, once for each test file.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { type Browser, chromium } from "playwright-core";

const place = "/usr/bin/chromium";

/** Topics of the suite, one file each. */
export const topics = [
  "Signing in",
  "Buckets",
  "A bucket",
  "Objects",
  "Uploading",
  "An object",
  "Versions",
  "Hostile content",
  "Keys",
  "Rules",
  "Scripts",
  "Overview",
  "Administration",
  "Roles",
] as const;
export type Topic = (typeof topics)[number];

export function titleOf(topic: Topic): string {
  return `${topic}: the console works in Chromium`;
}

export function missingPackages(): string[] {
  return existsSync(place) ? [] : ["chromium"];
}

export const launchOptions = {
  executablePath: place,
  // Show scroll bars, as for users.
  ignoreDefaultArgs: ["--hide-scrollbars"],
  // Chromium's sandbox does not work in containers or for root.
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
};

/** Unexpected messages on the browser's console, and page errors. */
export const complaints: string[] = [];

/** Runs the tests of a topic, or skips them with a reason. */
export function inBrowser(topic: Topic, run: (t: TestContext, browser: Browser) => Promise<void>): void {
  const skip = existsSync(place)
    ? false
    : "Chromium is not installed and cannot be installed from Debian here";
  test(titleOf(topic), { skip, timeout: 900_000 }, async (t) => {
    const browser = await chromium.launch(launchOptions);
    t.after(() => browser.close());
    await run(t, browser);
    assert.deepEqual(complaints, []);
  });
}
