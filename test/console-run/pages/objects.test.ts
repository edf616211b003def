// Browser tests of the object list: folders, flat view, search, keyboard and bulk deletion.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

const many = 1200;

inBrowser("Objects", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  await scene.put("bucket", "2026/garden/rose.jpg", "a rose");
  await scene.put("bucket", "2026/garden/tulip.jpg", "a tulip");
  await scene.put("bucket", "2026/list.txt", "a list");
  await scene.put("bucket", "hello.txt", "hello");
  const rows = (page: Page) => page.getByRole("grid").getByRole("row");
  const names = (page: Page) => page.locator(".list-row .cell-name a").allTextContents();

  await t.test("folders and objects can be opened with the keyboard only", async () => {
    const page = await scene.open("#/objects?bucket=bucket");
    assert.deepEqual(await names(page), ["2026/", "hello.txt"]);
    await looksRight(page, "objects");
    await page.getByRole("grid").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "bucket 2026" }).waitFor();
    assert.deepEqual(await names(page), ["garden/", "list.txt"]);
    await page.getByRole("grid").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "bucket 2026 list.txt" }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /garden/ }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await looksRight(page, "shortcuts");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  await t.test(
    "the objects page finds any part of a key, and its view of all keys shows every key",
    async () => {
      const page = await scene.open("#/objects?bucket=bucket&view=flat");
      assert.deepEqual(await names(page), [
        "2026/garden/rose.jpg",
        "2026/garden/tulip.jpg",
        "2026/list.txt",
        "hello.txt",
      ]);
      await page.keyboard.press("/");
      await page.keyboard.type("GARDEN");
      await page.getByText("2 objects found in 4 keys").waitFor();
      assert.deepEqual(await names(page), ["2026/garden/rose.jpg", "2026/garden/tulip.jpg"]);
      assert.match(page.url(), /search=GARDEN/);
      await page.keyboard.type("nothing");
      await page.getByText("No key contains this text").waitFor();
    },
  );

  await t.test("a long object list renders only visible rows and loads more rows on demand", async () => {
    await scene.engine.createBucket("many");
    const keys = Array.from({ length: many }, (_, i) => `object-${String(i).padStart(5, "0")}`);
    await Promise.all(keys.map((key) => scene.put("many", key, "")));
    const asked: string[] = [];
    const page = await scene.open("#/buckets");
    page.on("request", (request) => {
      if (request.url().includes("/api/objects")) asked.push(request.url());
    });
    await page.getByRole("link", { name: "many", exact: true }).click();
    await page.getByText("200+ shown").waitFor();
    assert.ok((await rows(page).count()) < 60);
    assert.equal(asked.length, 1);
    await page.getByRole("grid").focus();
    for (let shown = 200; shown < many; shown += 200) {
      await page.keyboard.press("End");
      await page
        .getByText(`${(shown + 200).toLocaleString("en-US")}${shown + 200 < many ? "+" : ""} shown`)
        .waitFor();
    }
    await page.keyboard.press("End");
    await page.getByRole("row", { name: keys.at(-1)! }).waitFor();
    assert.ok((await rows(page).count()) < 60);
    assert.equal(asked.length, many / 200);
  });

  await t.test("deleting a selection deletes its objects and all objects in its folders", async () => {
    const page = await scene.open("#/objects?bucket=many");
    await page.getByText("200+ shown").waitFor();
    await page.getByRole("grid").focus();
    await page.keyboard.press("Space");
    for (let i = 0; i < 4; i++) await page.keyboard.press("Shift+ArrowDown");
    await page.getByText("5 selected").waitFor();
    await page.keyboard.press("Delete");
    await page.getByRole("dialog", { name: "Delete 5 objects?" }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).last().click();
    await page.getByText("Deleted 5 objects.").waitFor();
    await page.getByRole("row", { name: "object-00005" }).waitFor();
    assert.equal((await scene.engine.totals("many")).objects, many - 5);

    await page.goto(`${scene.url}/#/objects?bucket=bucket`);
    await page.getByRole("checkbox", { name: "Select 2026/" }).check();
    await page.getByRole("button", { name: "More actions for the selection" }).click();
    await page.getByRole("menuitem", { name: "Delete 1 item…" }).click();
    await page.getByRole("dialog", { name: "Delete 1 folder with all objects in them?" }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Deleted 3 objects.").waitFor();
    assert.deepEqual(await names(page), ["hello.txt"]);
  });

  await t.test("a bucket can be emptied in the console by typing its name", async () => {
    const page = await scene.open("#/buckets");
    await page.getByRole("button", { name: "Actions for many" }).click();
    await page.getByRole("menuitem", { name: "Empty…" }).click();
    await page.keyboard.type("many");
    await page.keyboard.press("Enter");
    await page.getByText(`Deleted ${(many - 5).toLocaleString("en-US")} objects.`).waitFor();
    assert.equal((await scene.engine.totals("many")).objects, 0);
    await page.goto(`${scene.url}/#/objects?bucket=many`);
    await page.getByText("many is empty").waitFor();
    await looksRight(page, "objects-empty");
    await page.goto(`${scene.url}/#/objects?bucket=missing`);
    await page.getByRole("heading", { name: "This bucket no longer exists." }).waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
  });
});
