// Browser tests of the buckets page.
import assert from "node:assert/strict";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Buckets", async (t, browser) => {
  const scene = await consoleScene(t, browser);

  await t.test("a bucket is created, and deleted by typing its name, with the keyboard only", async () => {
    const page = await scene.open("#/buckets");
    await page.keyboard.press("c");
    await page.keyboard.type("No");
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("dialog").isVisible(), true);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("holiday-photos");
    await page.keyboard.press("Enter");
    await page.getByText("holiday-photos is empty").waitFor();
    await page.goto(`${scene.url}/#/buckets`);
    await page.getByRole("row", { name: /holiday-photos 0 0 B Private Standard/ }).waitFor();
    await looksRight(page, "buckets");
    await page.getByRole("button", { name: "Actions for holiday-photos" }).focus();
    await page.keyboard.press("Enter");
    await looksRight(page, "buckets-menu");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    const button = page.getByRole("dialog").getByRole("button", { name: "Delete bucket" });
    assert.equal(await button.isDisabled(), true);
    await page.keyboard.type("holiday-photos");
    await page.keyboard.press("Enter");
    await page.getByText("Deleted bucket holiday-photos.").waitFor();
    await page.getByRole("row", { name: /holiday-photos/ }).waitFor({ state: "detached" });
    assert.equal(await scene.engine.bucket("holiday-photos"), undefined);
  });
});
