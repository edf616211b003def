// Browser tests of the page of a bucket's settings and rules.
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
    await editor.getByText("Until rules are set, this one applies.").waitFor();
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
    await days.fill("2027-02-31");
    await added.getByText("Write a date, such as 2027-01-31.").waitFor();
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
    await editor
      .getByText("objects are kept until they are deleted, incomplete uploads for seven days")
      .waitFor();
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

  await t.test("versioning, Object Lock, lock rules and tags of a bucket can be set", async () => {
    await scene.engine.createBucket("records");
    const stored = async () => (await scene.engine.bucket("records"))!.settings;
    const page = await scene.open("#/rules?bucket=records");
    const versioning = page.getByRole("form", { name: "Versioning" });
    await versioning.getByText("cannot be turned off again, only suspended").waitFor();
    await versioning.getByLabel("State").selectOption("on");
    await versioning.getByRole("button", { name: "Save Versioning" }).click();
    await page.getByText("Saved Versioning of records.").waitFor();
    await versioning.getByText("While it is suspended, existing versions are kept.").waitFor();

    const lock = page.getByRole("form", { name: "Object Lock" });
    await lock.getByLabel("Enable Object Lock").check();
    await lock.getByLabel("Default retention").selectOption("governance");
    await lock.getByLabel("Retention in days").fill("0");
    await lock.getByRole("button", { name: "Save Object Lock" }).click();
    await page.getByText("Write a whole number of days, from 1 to 36500.").waitFor();
    await lock.getByLabel("Retention in days").fill("30");
    await lock.getByRole("button", { name: "Save Object Lock" }).click();
    await lock.getByText("Object Lock cannot be removed from a bucket").waitFor();

    const rules = page.getByRole("form", { name: "Lock rules" });
    await rules.getByRole("button", { name: "Add rule to Lock" }).click();
    await rules.getByLabel("Name").fill("contracts");
    await rules.getByLabel("Key prefix").fill("contracts/");
    await rules.getByLabel("Locked").selectOption("date");
    await rules.getByText("Write a date, such as 2027-01-31.").waitFor();
    await rules.getByLabel("Date").fill("2030-02-30");
    await rules.getByText("Write a date, such as 2027-01-31.").waitFor();
    await rules.getByLabel("Date").fill("2030-01-01");
    await rules.getByText("Not saved yet.").waitFor();
    await looksRight(page, "settings");
    await rules.getByRole("button", { name: "Save Lock rules" }).click();
    await page.getByText("Saved the Lock rules of records.").waitFor();

    const tags = page.getByRole("form", { name: "Tags" });
    await tags.getByRole("button", { name: "Add tag" }).click();
    await page.keyboard.type("team");
    await page.keyboard.press("Tab");
    await page.keyboard.type("blue");
    await tags.getByRole("button", { name: "Save Tags" }).scrollIntoViewIfNeeded();
    await looksRight(page, "settings-tags");
    await tags.getByRole("button", { name: "Save Tags" }).click();
    await page.getByText("Saved Tags of records.").waitFor();
    const condition = { kind: "date", date: Date.UTC(2030, 0, 1) };
    assert.deepEqual(await stored(), {
      versioning: "on",
      objectLock: { defaultRetention: { mode: "governance", days: 30 } },
      lockRules: [{ id: "contracts", isEnabled: true, prefix: "contracts/", condition }],
      tags: [["team", "blue"]],
    });
  });

  await t.test("a rule that was changed meanwhile is not overwritten", async () => {
    const page = await scene.open("#/rules?bucket=records");
    const editor = page.getByRole("form", { name: "Lifecycle" });
    await editor.getByLabel("Delete noncurrent versions", { exact: true }).fill("90");
    await editor.getByLabel("Delete noncurrent versions: newest versions to keep").fill("5");
    await editor.getByText("Not saved yet.").waitFor();
    await editor.scrollIntoViewIfNeeded();
    await looksRight(page, "settings-lifecycle");
    await scene.engine.changeSettings("records", { lifecycle: [] });
    await editor.getByRole("button", { name: "Save Lifecycle rules" }).click();
    await page.getByText("These settings were changed meanwhile; nothing was saved.").waitFor();
    assert.deepEqual((await scene.engine.bucket("records"))!.settings.lifecycle, []);
  });
});
