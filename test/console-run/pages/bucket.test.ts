// Browser tests of the bucket page by keyboard alone, as a new user works: create, upload a folder,
// share, restore a deleted file, publish with a domain; and its tabs in every theme and width.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";
import { png } from "../samples.ts";
import { consoleScene } from "../scene.ts";

inBrowser("A bucket", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const { engine } = scene;
  const bucket = "holiday-2026";
  const grid = `Objects of ${bucket}`;
  const published = "Publication and domains";

  await t.test(
    "a new user creates a bucket, uploads a folder, shares, and restores, by keyboard",
    async () => {
      const folder = join(scene.scene.directory, "holiday");
      await mkdir(folder);
      await writeFile(join(folder, "a.png"), png(30, 20));
      await writeFile(join(folder, "notes.txt"), "notes");
      const page = await scene.open("#/overview");
      const { press, type, tabTo } = keyboardOf(page);
      await tabTo("Buckets");
      await press("Enter");
      await page.locator("main:not([aria-busy])").getByRole("heading", { name: "Buckets" }).waitFor();
      await press("c");
      await page.getByRole("dialog", { name: "Create a bucket" }).waitFor();
      await type(bucket);
      await press("Enter");
      await page.getByText(`${bucket} is empty`).waitFor();
      await engine.changeSettings(bucket, { versioning: "on" });
      page.on("filechooser", (chooser) => void chooser.setFiles(folder));
      await looksRight(page, "bucket-empty");
      await press("f");
      await page.getByText("2 of 2 uploaded").waitFor();
      await page.getByRole("row", { name: /holiday/ }).waitFor();
      await looksRight(page, "bucket-uploaded");

      await tabTo(grid);
      await press("Enter");
      await page.getByRole("row", { name: /notes.txt/ }).waitFor();
      await tabTo(grid);
      await press("End", "s");
      await page.getByRole("dialog", { name: "Share this object" }).waitFor();
      await looksRight(page, "share");
      await press("Enter");
      const link = page.getByLabel("Link", { exact: true });
      const answer = await fetch(await link.inputValue());
      assert.equal(await answer.text(), "notes");
      await press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      await tabTo(grid);
      await press("End", "Space", "Delete");
      await page.getByRole("dialog", { name: "Delete 1 object?" }).waitFor();
      await tabTo("Delete");
      await press("Enter");
      await page.getByText(/^Deleted 1 object/).waitFor();
      await tabTo("Versions and deleted");
      await press("Enter");
      await page.getByRole("heading", { name: bucket }).waitFor();
      await page.getByRole("row", { name: /holiday/ }).waitFor();
      await tabTo(grid);
      await press("Space");
      await tabTo("Restore");
      await press("Enter");
      await page.getByText("Restored 1 object.").waitFor();
      assert.notEqual(await engine.head(bucket, "holiday/notes.txt"), undefined);
    },
  );

  await t.test("a new user makes a bucket public with a domain, by keyboard", async () => {
    const page = await scene.open("#/overview");
    const { press, type, tabTo } = keyboardOf(page);
    await press("Control+k");
    await page.getByRole("dialog").waitFor();
    await type(bucket);
    await page.getByRole("option", { name: bucket }).first().waitFor();
    await press("Enter");
    await page.getByRole("row", { name: /holiday/ }).waitFor();
    await tabTo("Settings", { within: ".tabs" });
    await press("Enter");
    await page.getByRole("form", { name: published }).waitFor();
    await tabTo(published, { within: ".section-links" });
    await press("Enter");
    await tabTo("Anyone can read this bucket");
    await press("Space");
    await tabTo("Domains");
    await type("not_a_host");
    await press("Tab", "Enter");
    const form = page.getByRole("form", { name: published });
    await form.getByText("is not a host name").waitFor();
    await looksRight(page, "bucket-public-wrong");
    await tabTo("Domains", { key: "Shift+Tab" });
    await press("Control+a");
    await type("photos.example.com");
    await press("Tab", "Enter");
    await page.getByText(`Saved ${published} of ${bucket}.`).waitFor();
    await page.getByRole("link", { name: "Public", exact: true }).waitFor();
    const { publication } = (await engine.bucket(bucket))!.settings;
    assert.deepEqual(publication, { domains: ["photos.example.com"] });
    await tabTo("Access", { within: ".tabs" });
    await press("Enter");
    await page.getByText("Anyone can read all objects").waitFor();
    await page.getByRole("row", { name: /holiday\/notes.txt/ }).waitFor();
    await looksRight(page, "bucket-access");
    await tabTo(/^Actions for the link/);
    await press("Enter");
    await page.getByRole("menuitem", { name: "Revoke…" }).waitFor();
    await press("End", "Enter");
    await page.getByRole("button", { name: "Revoke link" }).waitFor();
    await tabTo("Revoke link");
    await press("Enter");
    await page.getByText("No links.").waitFor();
  });

  await t.test("the tabs of a bucket look right in both themes and widths", async () => {
    for (const [tab, text] of [
      ["uploads", "No uploads in progress"],
      ["metrics", "Stored bytes"],
    ] as const) {
      const page = await scene.open(`#/bucket?bucket=holiday-2026&tab=${tab}`);
      await page.getByText(text).first().waitFor();
      await looksRight(page, `bucket-${tab}`);
    }
    const charted = await scene.open("#/bucket?bucket=holiday-2026&tab=metrics&span=hour");
    await charted.getByText("No requests to this bucket are known for the last hour").waitFor();
    const url = await charted.evaluate<string>(`fetch("/api/object/link", {
      method: "POST",
      headers: { "x-store-console": "1", "content-type": "application/json" },
      body: JSON.stringify({ bucket: "holiday-2026", key: "holiday/notes.txt", seconds: 60 }),
    }).then((response) => response.json()).then(({ url }) => url)`);
    for (let i = 0; i < 20; i++) assert.equal((await fetch(url)).status, 200);
    await charted.reload();
    const charts = charted.getByRole("region", { name: "Requests over time" });
    await charts.getByRole("img", { name: /^Requests per second: Requests 0?[.1-9]/ }).waitFor();
    await charts.getByRole("region", { name: "Bytes per second" }).waitFor();
    await charts.getByRole("heading", { name: "Requests over time" }).scrollIntoViewIfNeeded();
    await looksRight(charted, "bucket-metrics-history");
    const page = await scene.open("#/objects?bucket=holiday-2026&prefix=holiday%2F");
    await page.getByRole("grid").focus();
    await page.keyboard.press("g");
    await page.locator(".tile").first().waitFor();
    await looksRight(page, "bucket-tiles");
    await page.keyboard.press("g");
    await page.locator(".list-row.active").waitFor();
  });

  await t.test("objects are renamed, moved, sorted and downloaded as an archive", async () => {
    await engine.createBucket("files");
    for (const [key, size] of [
      ["a.txt", 30],
      ["b.txt", 10],
      ["c.txt", 20],
      ["deep/d.txt", 5],
    ] as const)
      await scene.put("files", key, "x".repeat(size));
    const page = await scene.open("#/objects?bucket=files");
    const names = () => page.locator(".list-row .cell-name a").allTextContents();
    await page.getByRole("button", { name: /^Sort by size/ }).click();
    await page.waitForURL(/sort=-size/);
    assert.deepEqual(await names(), ["deep/", "a.txt", "c.txt", "b.txt"]);
    await page.getByRole("button", { name: /^Sort by name/ }).click();
    await page.getByRole("grid").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("F2");
    await page.getByLabel("New name").fill("renamed.txt");
    await page.keyboard.press("Enter");
    await page.getByText("Moved 1 object.").waitFor();
    await page.getByRole("row", { name: /renamed.txt/ }).waitFor();
    await page.getByRole("checkbox", { name: "Select all" }).check();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    assert.equal((await download).suggestedFilename(), "files.zip");
    await page.getByRole("button", { name: "Move or copy" }).click();
    await page.getByLabel("To folder").fill("moved");
    await looksRight(page, "bucket-move");
    await page.keyboard.press("Enter");
    await page.getByText("Moved 4 objects.").waitFor();
    assert.deepEqual(
      (await engine.list("files")).objects.map(({ key }) => key),
      ["moved/b.txt", "moved/c.txt", "moved/deep/d.txt", "moved/renamed.txt"],
    );
  });

  await t.test("a bucket that is not empty is emptied and deleted after its name is typed", async () => {
    const page = await scene.open("#/buckets");
    await page.getByRole("button", { name: "Actions for files" }).click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await page.getByText("This permanently deletes 4 objects (65 B)").waitFor();
    await looksRight(page, "bucket-delete");
    await page.getByLabel(/^Type files/).fill("files");
    await page.keyboard.press("Enter");
    await page.getByText("Deleted bucket files.").waitFor();
    assert.equal(await engine.bucket("files"), undefined);
  });
});
