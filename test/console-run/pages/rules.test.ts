// Browser tests of the page of a bucket's lifecycle and CORS rules.
import assert from "node:assert/strict";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Rules", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const settings = async () => (await scene.engine.bucket("bucket"))?.settings;

  await t.test("lifecycle rules are validated while typing, and can be saved", async () => {
    const page = await scene.open("#/rules?bucket=bucket");
    const editor = page.getByRole("form", { name: "Lifecycle" });
    const save = editor.getByRole("button", { name: "Save Lifecycle rules" });
    assert.equal(await save.isDisabled(), true);
    assert.equal(await editor.getByLabel("Abort incomplete uploads after days").inputValue(), "7");
    await editor.getByRole("button", { name: "Add rule to Lifecycle" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("old-logs");
    const added = editor.getByRole("group", { name: "Lifecycle rule 2" });
    const days = added.getByLabel("Delete objects");
    await days.fill("soon");
    await added.getByText("Write a whole number of days.").waitFor();
    assert.equal(await days.getAttribute("aria-invalid"), "true");
    assert.equal(await save.isDisabled(), true);
    await looksRight(page, "rules-wrong");
    await days.fill("");
    await added.getByText("At least one action needs to be specified in a rule").waitFor();
    await days.fill("2027-01-31");
    await added.getByLabel("Key prefix").fill("logs/");
    await added.getByLabel("Name").fill("Default Multipart Abort Rule");
    await added.getByText("Rule ID must be unique").waitFor();
    await added.getByLabel("Name").fill("old-logs");
    await editor.getByText("Not saved yet.").waitFor();
    await looksRight(page, "rules");
    await page.keyboard.press("Enter");
    await page.getByText("Saved the Lifecycle rules of bucket.").waitFor();
    const { lifecycle } = (await settings())!;
    assert.deepEqual(
      lifecycle?.map(({ id, prefix, expire, abortUploadsAfter }) => [id, prefix, expire, abortUploadsAfter]),
      [
        ["Default Multipart Abort Rule", "", undefined, 7],
        ["old-logs", "logs/", { date: Date.UTC(2027, 0, 31) }, undefined],
      ],
    );
    await page.reload();
    assert.equal(await added.getByLabel("Delete objects").inputValue(), "2027-01-31");
    await editor.getByRole("button", { name: "Remove Lifecycle rule 2" }).click();
    await editor.getByRole("button", { name: "Remove Lifecycle rule 1" }).click();
    await editor.getByText("objects and incomplete uploads are kept until they are deleted").waitFor();
    await save.click();
    await page.getByText("Saved the Lifecycle rules of bucket.").waitFor();
    assert.deepEqual((await settings())?.lifecycle, []);
  });

  await t.test("CORS rules are validated while typing, and can be saved with the keyboard only", async () => {
    const page = await scene.open("#/rules?bucket=bucket");
    const editor = page.getByRole("form", { name: "CORS" });
    await editor.getByText("No CORS rules: cross-origin requests are blocked.").waitFor();
    await editor.getByRole("button", { name: "Add rule to CORS" }).focus();
    const press = (key: string) => page.keyboard.press(key);
    await press("Enter");
    await page.keyboard.type("app");
    await press("Tab");
    await press("Control+a");
    await page.keyboard.type("https://*.*.example.com");
    await editor.getByText("can not have more than one wildcard").waitFor();
    await press("Control+a");
    await page.keyboard.type("https://*.example.com\nhttps://example.com");
    await press("Tab");
    await press("Space");
    await editor.getByText("Choose at least one method.").waitFor();
    await press("Space");
    await press("Tab");
    await press("Space");
    await editor.getByText("Not saved yet.").waitFor();
    await editor.getByRole("button", { name: "Save CORS rules" }).focus();
    await press("Enter");
    await page.getByText("Saved the CORS rules of bucket.").waitFor();
    assert.deepEqual(
      (await settings())?.cors?.map(({ id, origins, methods }) => [id, origins, methods]),
      [["app", ["https://*.example.com", "https://example.com"], ["GET", "PUT"]]],
    );
  });
});
