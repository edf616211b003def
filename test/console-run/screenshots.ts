// `npm run test:console -- --figures`: takes the screenshots in README and docs/console.md.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Engine } from "../../src/engine/engine.ts";
import { root } from "../cli/store.ts";
import { launchOptions } from "./browser.ts";
import { png } from "./samples.ts";
import { servedConsole } from "./served.ts";

const MiB = 1024 * 1024;

export async function drawFigures(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "store-console-"));
  const served = await servedConsole(directory, fill);
  const browser = await chromium.launch(launchOptions);
  try {
    const page = await (await browser.newContext({ viewport: { width: 1120, height: 620 } })).newPage();
    await page.goto(`${served.url}/#token=${served.token}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const shots = [
      ["console-objects", "light", "#/objects?bucket=photos&prefix=2026%2Fgarden%2F", "10 shown"],
      ["console-object", "dark", "#/object?bucket=photos&key=2026%2Fgarden%2Frose.png", "max-age=86400"],
      ["console-uploads", "light", "#/uploads", "2 uploads, 96.0 MiB in total"],
    ] as const;
    for (const [name, colorScheme, place, sign] of shots) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto(`${served.url}/${place}`);
      await page.getByText(sign).waitFor();
      await page.evaluate(shownPictures);
      await page.screenshot({ path: join(root, "docs", "figures", `${name}.png`), animations: "disabled" });
    }
  } finally {
    await browser.close();
    await served.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Waits for the pictures in the visible part of the page. */
const shownPictures = `Promise.all(
  [...document.images]
    .filter((image) => !image.complete && image.getBoundingClientRect().top < innerHeight)
    .map((image) => new Promise((resolve) => { image.onload = image.onerror = resolve; })),
)`;

const names = ["apple-tree", "bee", "daisy", "gate", "hedge", "ivy", "path", "rose", "tulip", "wall"];

async function fill(engine: Engine): Promise<void> {
  for (const name of ["backups", "photos", "website"]) await engine.createBucket(name);
  for (const [i, name] of names.entries()) {
    await engine.put("photos", `2026/garden/${name}.png`, png(480 + 40 * i, 320), {
      httpMetadata: { contentType: "image/png", cacheControl: "max-age=86400" },
      customMetadata: new Map([["place", "garden"]]),
      checksums: [{ algorithm: "sha256" }],
    });
  }
  for (const [key, parts] of [
    ["db/monday.tar", 2],
    ["db/tuesday.tar", 4],
  ] as const) {
    const { id } = await engine.createUpload("backups", key);
    for (let number = 1; number <= parts; number++) {
      await engine.uploadPart("backups", { key, id }, number, Buffer.alloc(16 * MiB));
    }
  }
}
