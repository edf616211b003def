// Browser tests of uploads: selected and dropped files, folders, parts, cancel, retry, resume after
// a reload, and the page of uploads in progress.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../../script/inside.ts";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

const MiB = 1024 * 1024;

inBrowser("Uploading", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const folder = join(scene.scene.directory, "files");
  await mkdir(join(folder, "deep", "er"), { recursive: true });
  await writeFile(join(folder, "one.txt"), "one");
  await writeFile(join(folder, "deep", "two.json"), "{}");
  await writeFile(join(folder, "deep", "er", "<img src=x onerror=alert(1)>.txt"), "three");
  const large = randomBytes(40 * MiB);
  const largeFile = join(scene.scene.directory, "large.bin");
  await writeFile(largeFile, large);
  const keys = async () => (await scene.engine.list("bucket")).objects.map(({ key }) => key);
  const pick = (page: Page, label: string, path: string) => page.getByLabel(label).setInputFiles(path);

  await t.test("files and folders can be uploaded with buttons and by drag and drop", async () => {
    const page = await scene.open("#/objects?bucket=bucket");
    await pick(page, "Files to upload", join(folder, "one.txt"));
    await page.getByText("1 of 1 uploaded").waitFor();
    await page.getByRole("row", { name: /one.txt 3 B/ }).waitFor();
    await pick(page, "Folder to upload", folder);
    await page.getByText("4 of 4 uploaded").waitFor();
    await looksRight(page, "uploading");
    const below = ["files/deep/er/<img src=x onerror=alert(1)>.txt", "files/deep/two.json", "files/one.txt"];
    assert.deepEqual(await keys(), [...below, "one.txt"]);
    const record = await scene.engine.head("bucket", "files/deep/two.json");
    assert.equal(record!.httpMetadata.contentType, "application/json");

    await page.goto(`${scene.url}/#/objects?bucket=bucket&prefix=dropped%2F`);
    await page.getByText("This folder is empty").waitFor();
    const devtools = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      await devtools.send("Input.dispatchDragEvent", { type, x: 600, y: 400, data });
    }
    await page.getByText("7 of 7 uploaded").waitFor();
    assert.deepEqual(
      (await keys()).slice(0, 3),
      below.map((key) => `dropped/${key}`),
    );
  });

  await t.test("a large file is uploaded in parts, and its upload can be cancelled and retried", async () => {
    const page = await scene.open("#/objects?bucket=bucket");
    let isHeld = true;
    const held: (() => void)[] = [];
    await page.route(/uploads\/part\?/, async (route) => {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue().catch(() => {});
    });
    await pick(page, "Files to upload", largeFile);
    await page.waitForRequest(/uploads\/part\?/);
    await page.getByRole("button", { name: "Cancel large.bin" }).click();
    await page.getByText("cancelled").waitFor();
    const inFlight = async () => (await scene.engine.listUploads("bucket")).uploads.length;
    await until(async () => (await inFlight()) === 0, "the upload is gone");
    isHeld = false;
    for (const go of held) go();
    await page.getByRole("button", { name: "Retry large.bin" }).click();
    await page.getByText("1 of 1 uploaded").waitFor();
    const described = await scene.engine.describe("bucket", "large.bin");
    assert.ok(described.outcome === "found");
    const { record, parts } = described;
    assert.deepEqual([record.size, parts!.length], [large.length, 3]);
  });

  await t.test("an upload can be resumed after the page is reloaded, and no part is sent twice", async () => {
    const page = await scene.open("#/objects?bucket=bucket");
    page.on("dialog", (dialog) => void dialog.accept());
    let isCut = true;
    const sent: string[] = [];
    await page.route(/uploads\/part\?/, async (route) => {
      const number = new URL(route.request().url()).searchParams.get("number")!;
      // Simulate an interruption: only the first part is uploaded.
      if (isCut && number !== "1") return;
      sent.push(number);
      await route.continue();
    });
    const key = "going/on.bin";
    await page.goto(`${scene.url}/#/objects?bucket=bucket&prefix=going%2F`);
    // Wait for the heading: until it appears, the previous page is shown with its own buttons.
    await page.getByRole("heading", { name: "bucket going" }).waitFor();
    const stored = page.waitForResponse(/uploads\/part\?/);
    const file = join(scene.scene.directory, "on.bin");
    await writeFile(file, large);
    await pick(page, "Files to upload", file);
    await stored;
    await page.goto(`${scene.url}/#/uploads`);
    await page.getByRole("row", { name: /going\/on.bin bucket .* 1 16.0 MiB/ }).waitFor();
    await looksRight(page, "uploads-in-flight");
    isCut = false;
    await page.goto(`${scene.url}/#/objects?bucket=bucket`);
    await page.reload();
    await page.getByText("Interrupted uploads: on.bin").waitFor();
    await looksRight(page, "uploads-unfinished");
    await pick(page, "Files to resume", file);
    await page.getByText("1 of 1 uploaded").waitFor();
    assert.deepEqual(sent.sort(), ["1", "2", "3"]);
    const found = await scene.engine.get("bucket", key);
    assert.equal(found.outcome, "found");
    const hash = createHash("sha256");
    if (found.outcome === "found") for await (const chunk of found.bytes.chunks()) hash.update(chunk);
    assert.equal(hash.digest("hex"), createHash("sha256").update(large).digest("hex"));
  });

  await t.test("an upload in progress can be aborted on the uploads page", async () => {
    await scene.engine.createUpload("bucket", "abandoned.iso");
    const page = await scene.open("#/uploads");
    await page.getByRole("button", { name: "Actions for abandoned.iso" }).click();
    await page.getByRole("menuitem", { name: "Abort…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Abort upload" }).click();
    await page.getByText("No uploads in progress").waitFor();
    assert.deepEqual((await scene.engine.listUploads("bucket")).uploads, []);
    await looksRight(page, "uploads-none");
  });
});
