// Browser tests of versions: the history of an object, deleted objects, and the state at a time.
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Versions", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const { engine } = scene;
  const bucket = "photos";
  await engine.createBucket(bucket);
  await engine.changeSettings(bucket, { versioning: "on" });
  const names = (page: Page) => page.locator(".list-row .cell-name a").allTextContents();
  const text = { httpMetadata: { contentType: "text/plain" } };
  const content = async (key: string) => {
    const got = await engine.get(bucket, key);
    return got.outcome === "found" ? Buffer.from(got.bytes.inline!).toString() : got.outcome;
  };

  await t.test("an earlier version of an object can be downloaded, restored and deleted", async () => {
    await scene.put(bucket, "notes/todo.txt", "water the roses", text);
    await scene.put(bucket, "notes/todo.txt", "ransom", text);
    const page = await scene.open(`#/object?bucket=${bucket}&key=notes%2Ftodo.txt`);
    const rows = page.getByRole("region", { name: "Versions" }).getByRole("row");
    assert.equal(await rows.count(), 3);
    await rows.nth(1).getByText("Current").waitFor();
    await rows.nth(2).scrollIntoViewIfNeeded();
    const download = page.waitForEvent("download");
    await rows
      .nth(2)
      .getByRole("link", { name: /^Download version/ })
      .click();
    assert.equal((await download).suggestedFilename(), "todo.txt");
    await rows
      .nth(2)
      .getByRole("button", { name: /^Restore version/ })
      .click();
    await page.getByText(/^Restored the version of/).waitFor();
    await page.getByText("water the roses").waitFor();
    assert.equal(await content("notes/todo.txt"), "water the roses");
    assert.equal(await rows.count(), 4);

    const condition = { kind: "date", date: Date.UTC(2100, 0, 1) } as const;
    const lockRules = [{ id: "keep", isEnabled: true, prefix: "", condition }];
    await engine.changeSettings(bucket, { lockRules });
    await page.reload();
    await rows.nth(2).getByText("Locked until 2100").waitFor();
    await rows.nth(3).scrollIntoViewIfNeeded();
    await looksRight(page, "versions");
    await rows
      .nth(2)
      .getByRole("button", { name: /^Delete version/ })
      .click();
    const dialog = page.getByRole("dialog", { name: "Delete this version for good?" });
    await dialog.getByRole("button", { name: "Delete version" }).click();
    await dialog.getByText('locked by the bucket\'s lock rule "keep" until 2100-01-01').waitFor();
    await looksRight(page, "version-locked");
    const list = await scene.open(`#/objects?bucket=${bucket}&prefix=notes%2F`);
    await list.getByRole("row", { name: /todo.txt Locked/ }).waitFor();
    await looksRight(list, "objects-locked");
    await engine.changeSettings(bucket, { lockRules: undefined });
    await dialog.getByRole("button", { name: "Delete version" }).click();
    await page.getByText(/^Deleted the version of .* for good/).waitFor();
    await rows.nth(3).waitFor({ state: "detached" });
  });

  await t.test("an object is locked by a retention and a legal hold, and released", async () => {
    await engine.createBucket("contracts");
    await engine.changeSettings("contracts", { versioning: "on" });
    await engine.changeSettings("contracts", { objectLock: {} });
    await scene.put("contracts", "lease.txt", "lease", text);
    const page = await scene.open("#/object?bucket=contracts&key=lease.txt");
    const dialog = page.getByRole("dialog", { name: "Lock of the object" });
    const edit = page.getByRole("button", { name: "Edit lock" });
    const lock = async () => (await engine.head("contracts", "lease.txt"))?.lock;
    await edit.click();
    await dialog.getByLabel("Retention", { exact: true }).selectOption("governance");
    await dialog.getByLabel("Until", { exact: true }).fill("2100-01-01T12:00:00");
    await dialog.getByLabel(/^Legal hold/).check();
    await looksRight(page, "object-lock");
    await page.keyboard.press("Enter");
    await page.getByText("governance, until 2100-01-01 12:00:00").waitFor();
    const until = new Date("2100-01-01T12:00:00").getTime();
    assert.deepEqual(await lock(), { retention: { mode: "governance", until }, legalHold: true });
    await edit.click();
    await dialog.getByLabel("Retention", { exact: true }).selectOption("none");
    await dialog.getByLabel(/^Legal hold/).uncheck();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("locked by governance retention").waitFor();
    await dialog.getByLabel(/^Shorten or end/).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(await lock(), { legalHold: false });
  });

  await t.test("tags of an object can be edited", async () => {
    const page = await scene.open(`#/object?bucket=${bucket}&key=notes%2Ftodo.txt`);
    await page.getByRole("button", { name: "Edit tags" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
    await page.keyboard.type("team");
    await page.keyboard.press("Tab");
    await page.keyboard.type("bl!ue");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText('Tag "team" has a character that is not allowed').waitFor();
    await page.getByRole("dialog").getByLabel("Value").fill("blue");
    await looksRight(page, "object-tags");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved the tags.").waitFor();
    await page.getByText("blue", { exact: true }).waitFor();
    const record = await engine.head(bucket, "notes/todo.txt");
    assert.deepEqual(record?.tags, new Map([["team", "blue"]]));
  });

  await t.test("deleted objects are listed and can be restored", async () => {
    for (const key of ["a.txt", "b.txt", "folder/c.txt"]) await scene.put(bucket, key, key, text);
    const page = await scene.open(`#/objects?bucket=${bucket}&view=flat`);
    await page.getByRole("checkbox", { name: "Select a.txt" }).check();
    await page.getByRole("checkbox", { name: "Select folder/c.txt" }).check();
    await page.keyboard.press("Delete");
    await page.getByText("The versions are kept").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Deleted 2 objects. 2 delete markers written; versions are kept.").waitFor();
    await page.getByRole("link", { name: "Versions and deleted" }).click();
    await page.getByRole("row", { name: /a.txt/ }).waitFor();
    await page.getByRole("combobox", { name: "View" }).selectOption("flat");
    await page.getByText("2 shown").waitFor();
    await page.getByRole("row", { name: /folder\/c.txt/ }).waitFor();
    assert.deepEqual(await names(page), ["a.txt", "folder/c.txt"]);
    await looksRight(page, "objects-deleted");
    await page.getByRole("link", { name: "a.txt" }).click();
    await page.getByText("This object is deleted. Restore a version to bring it back.").waitFor();
    await looksRight(page, "object-deleted");
    await page.goBack();
    await page.getByRole("button", { name: "Restore a.txt" }).click();
    await page.getByText("Restored 1 object.").waitFor();
    await page.getByText("1 shown").waitFor();
    assert.equal(await content("a.txt"), "a.txt");
    await page.getByRole("checkbox", { name: "Select folder/c.txt" }).check();
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("No deleted objects").waitFor();
    assert.equal(await content("folder/c.txt"), "folder/c.txt");
  });

  await t.test("a bucket is shown as of a time, read-only, and a folder is restored to it", async () => {
    await scene.put(bucket, "logs/1", "one", text);
    await scene.put(bucket, "logs/2", "two", text);
    await setTimeout(1100);
    const at = Date.now();
    await setTimeout(1100);
    await scene.put(bucket, "logs/1", "ransom", text);
    await scene.put(bucket, "logs/3", "three", text);
    const page = await scene.open(`#/objects?bucket=${bucket}&prefix=logs%2F`);
    assert.deepEqual(await names(page), ["1", "2", "3"]);
    await page.goto(`${scene.url}/#/objects?bucket=${bucket}&prefix=logs%2F&deleted=1`);
    await page.getByRole("button", { name: "As of…" }).click();
    const input = page.getByLabel("Date and time");
    const offset = new Date(at).getTimezoneOffset() * 60_000;
    await input.fill(new Date(at - offset).toISOString().slice(0, 19));
    await looksRight(page, "objects-time");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText(/^History: the objects as of/).waitFor();
    await page.getByText("2 shown").waitFor();
    assert.deepEqual(await names(page), ["1", "2"]);
    assert.equal(await page.getByRole("button", { name: "Upload files" }).count(), 0);
    await looksRight(page, "objects-history");
    await page.getByRole("link", { name: "1", exact: true }).click();
    await page.getByText(/^History: the object as of/).waitFor();
    await page.getByText("one", { exact: true }).waitFor();
    await looksRight(page, "object-history");
    assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
    await page.goBack();
    await page.getByRole("button", { name: "Restore folder to this time" }).click();
    const dialog = page.getByRole("dialog", { name: /^Restore logs\/ to/ });
    await dialog.waitFor();
    assert.deepEqual(await dialog.locator("dd strong").allTextContents(), ["1", "1", "1"]);
    await looksRight(page, "objects-restore");
    await dialog.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("Restored 1 object, deleted 1 object.").waitFor();
    await page.getByText("2 shown").waitFor();
    assert.deepEqual([await content("logs/1"), await content("logs/3")], ["one", "missing"]);
  });
});
