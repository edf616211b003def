// `npm run test:console -- --bars`: measures the first page, a folder of many objects and a search,
// and the memory of a large upload. Asserts nothing; docs/console.md quotes some of the numbers.
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { openLocal } from "../../src/local/open.ts";
import { putObject } from "../support/samples.ts";
import { launchOptions } from "./browser.ts";
import { servedConsole } from "./served.ts";

const MiB = 1024 * 1024;
const rounds = 9;

export interface Bars {
  readonly objects: number;
  readonly uploadBytes: number;
}

export async function measureBars({ objects, uploadBytes }: Bars): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "store-console-"));
  try {
    await fill(join(directory, ".store"), objects);
    const { url, token, close } = await servedConsole(directory, async () => {});
    const browser = await chromium.launch(launchOptions);
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${url}/#token=${token}`);
      await overview(page).waitFor();
      const count = objects.toLocaleString("en-US");
      await tell("first page, until it can be used", () => opening(page, url));
      await tell("first page without the browser's cache", () => firstVisit(browser, context, url));
      await tell(`a folder of ${count} objects, until it can be used`, () => folder(page, url));
      const middle = Math.floor(objects / 2);
      for (const [what, number] of [
        ["in the middle", middle],
        ["at the end", objects - 1],
      ] as const)
        await tell(`a search in ${count} keys for a key ${what}, until it is shown`, () =>
          search(page, url, number),
        );
      if (uploadBytes === 0) return;
      const file = await largeFile(directory, uploadBytes);
      console.log(`upload of ${uploadBytes / MiB} MiB: ${await uploading(page, url, file)}`);
    } finally {
      await browser.close();
      await close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function keyOf(number: number): string {
  return `folder/object-${String(number).padStart(8, "0")}`;
}

/** Puts all objects into one folder, many in each commit. */
async function fill(directory: string, objects: number): Promise<void> {
  const { records, blobs } = await openLocal(directory);
  const created = Date.now();
  await records.createBucket({ name: "large", created, storageClass: "Standard", account: "default" });
  const batch = 2000;
  for (let first = 0; first < objects; first += batch) {
    const count = Math.min(batch, objects - first);
    const mutations = Array.from({ length: count }, (_, i) => putObject(keyOf(first + i)));
    await records.commit("large", { mutations });
  }
  await records.close();
  await blobs.close();
}

function overview(page: Page) {
  return page.getByRole("heading", { name: "Overview" });
}

/** Returns the load time of the first page, with the browser's cache of earlier visits. */
async function opening(page: Page, url: string): Promise<number> {
  await page.goto("about:blank");
  const began = performance.now();
  await page.goto(`${url}/`, { waitUntil: "commit" });
  await usable(page);
  return performance.now() - began;
}

/** Waits until the overview has its content and takes clicks. */
async function usable(page: Page): Promise<void> {
  await page.locator("main:not([aria-busy])").getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("link", { name: "Buckets", exact: true }).first().click({ trial: true });
}

/** Like `opening`, in a new browser profile that has only the session. */
async function firstVisit(browser: Browser, signedIn: BrowserContext, url: string): Promise<number> {
  const context = await browser.newContext({ storageState: await signedIn.storageState() });
  try {
    return await opening(await context.newPage(), url);
  } finally {
    await context.close();
  }
}

async function folder(page: Page, url: string): Promise<number> {
  await page.goto(`${url}/#/objects?bucket=large`);
  const link = page.getByRole("link", { name: "folder/" });
  await link.waitFor();
  const began = performance.now();
  await link.click();
  await page.getByRole("row", { name: "object-00000000" }).getByRole("checkbox").click({ trial: true });
  return performance.now() - began;
}

async function search(page: Page, url: string, number: number): Promise<number> {
  await page.goto(`${url}/#/objects?bucket=large`);
  await page.getByRole("link", { name: "folder/" }).waitFor();
  const text = keyOf(number).slice("folder/obj".length).toUpperCase();
  const began = performance.now();
  await page.getByRole("searchbox", { name: "Search by any part of the key" }).fill(text);
  await page.getByRole("row", { name: keyOf(number) }).waitFor({ timeout: 60_000 });
  const time = performance.now() - began;
  await page.goto("about:blank");
  return time;
}

async function tell(what: string, measure: () => Promise<number>): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) times.push(await measure());
  times.sort((a, b) => a - b);
  const [least, middle, most] = [times[0]!, times[rounds >> 1]!, times.at(-1)!].map((time) =>
    time.toFixed(0),
  );
  const load = loadavg()[0]!.toFixed(1);
  console.log(`${what}: ${middle} ms (${least} to ${most} in ${rounds} rounds, load ${load})`);
}

async function largeFile(directory: string, size: number): Promise<string> {
  const file = join(directory, "large.bin");
  const block = Buffer.alloc(MiB, "store");
  const blocks = function* () {
    for (let i = 0; i < size / MiB; i++) yield block;
  };
  await pipeline(blocks, createWriteStream(file));
  return file;
}

async function uploading(page: Page, url: string, file: string): Promise<string> {
  await page.goto(`${url}/#/objects?bucket=large&prefix=uploaded%2F`);
  await page.getByText("No key starts with this prefix").waitFor();
  const before = await tabBytes();
  let most = before;
  let isDone = false;
  const began = performance.now();
  await page.getByLabel("Files to upload").setInputFiles(file);
  const done = page
    .getByText("1 of 1 uploaded")
    .waitFor({ timeout: 600_000 })
    .then(() => {
      isDone = true;
    });
  while (!isDone) {
    most = Math.max(most, await tabBytes());
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  const seconds = (performance.now() - began) / 1000;
  const told = [before, most].map((bytes) => `${(bytes / MiB).toFixed(0)} MiB`);
  return `${seconds.toFixed(1)} s, the tab's process at ${told[0]} before and ${told[1]} at most`;
}

/** Returns the private memory of the largest renderer process. */
async function tabBytes(): Promise<number> {
  let most = 0;
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (!(await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("--type=renderer")) continue;
      const [, resident = "0"] =
        /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
      most = Math.max(most, Number(resident) * 1024);
    } catch {
      // The process has already ended.
    }
  }
  return most;
}
