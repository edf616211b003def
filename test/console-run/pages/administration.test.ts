// Browser tests of users, tokens, the audit log and settings.
import assert from "node:assert/strict";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Administration", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  await scene.engine.createBucket("photos");

  await t.test("a user is created, changed, given a token and deleted", async () => {
    const page = await scene.open("#/users");
    await page.getByText("No users yet").waitFor();
    await looksRight(page, "users-empty");
    await page.getByRole("button", { name: "Create user" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("bert@example.com");
    await dialog.getByLabel("Role on the whole store").selectOption("");
    await dialog.getByRole("button", { name: "Add a role on a bucket" }).click();
    await dialog.getByLabel("Bucket", { exact: true }).selectOption("photos");
    await dialog.getByLabel("Role on the bucket").selectOption("editor");
    await looksRight(page, "user-create");
    await dialog.getByRole("button", { name: "Create user" }).click();
    await page.getByRole("row", { name: /bert@example.com photos: editor none/ }).waitFor();

    await page.getByRole("button", { name: "Actions for bert@example.com" }).click();
    await page.getByRole("menuitem", { name: "Change roles" }).click();
    await dialog.getByLabel("Role on the whole store").selectOption("administrator");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /bert@example.com administrator, photos: editor/ }).waitFor();
    await looksRight(page, "users");

    await page.getByRole("button", { name: "Actions for bert@example.com" }).click();
    await page.getByRole("menuitem", { name: "Create token" }).click();
    await dialog.getByLabel("What it is for").fill("laptop");
    await dialog.getByRole("button", { name: "Create token" }).click();
    const token = await dialog.getByLabel("Token", { exact: true }).inputValue();
    await looksRight(page, "token-secret");
    await dialog.getByRole("button", { name: "I have saved it" }).click();

    const bert = await scene.open("#/users?tab=tokens", { signInWith: token });
    await bert.getByRole("row", { name: /laptop .* user bert@example.com active/ }).waitFor();
    await looksRight(bert, "tokens");
    await page.getByRole("button", { name: "Actions for bert@example.com" }).click();
    await page.getByRole("menuitem", { name: "Delete user" }).click();
    await dialog.getByLabel(/Type bert@example.com/).fill("bert@example.com");
    await dialog.getByRole("button", { name: "Delete user" }).click();
    await page.getByText("No users yet").waitFor();
    await bert.reload();
    await bert.getByLabel("Token", { exact: true }).waitFor();
  });

  await t.test("who deleted a bucket and an object is found with the keyboard only", async () => {
    await scene.put("bucket", "2026/contract.pdf", "text");
    const deleting = await scene.open("#/buckets");
    const ask = (method: string, path: string, body?: unknown) =>
      deleting.evaluate<number>(
        `fetch("${path}", { method: "${method}", headers: { "x-store-console": "1" }, body: ${
          body === undefined ? "undefined" : JSON.stringify(JSON.stringify(body))
        } }).then(({ status }) => status)`,
      );
    assert.equal(
      await ask("POST", "/api/objects/delete", { bucket: "bucket", keys: ["2026/contract.pdf"] }),
      200,
    );
    assert.equal(await ask("DELETE", "/api/buckets?bucket=photos"), 204);

    const page = await scene.open("#/buckets");
    const { press, type, tabTo } = keyboardOf(page);
    await press("Control+k");
    await page.getByRole("dialog").waitFor();
    await type("audit");
    await press("Enter");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    await looksRight(page, "audit");
    await tabTo("Who or what");
    await type("deleted contract.pdf");
    await page.getByText("1 entry, the newest first").waitFor();
    await page.getByRole("row", { name: /delete objects .*contract\.pdf store dev console/ }).waitFor();
    await press("Control+a");
    await type("photos");
    await tabTo("Kind");
    await press("ArrowDown");
    await page.getByRole("row", { name: /delete bucket photos store dev console ?127\.0\.0\.1/ }).waitFor();
    assert.equal(await page.getByRole("row", { name: /create bucket/ }).count(), 0);
    await looksRight(page, "audit-found");
    await tabTo("Who or what");
    await type("nothing like this");
    await page.getByText("No entry matches").waitFor();
    await looksRight(page, "audit-none");
  });

  await t.test("the chain of the audit log is verified, and settings show the server", async () => {
    const page = await scene.open("#/audit");
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText("No entry was changed, removed or inserted").waitFor();
    await looksRight(page, "audit-verify");
    const settings = await scene.open("#/settings");
    await settings.getByRole("region", { name: "Server" }).getByText(scene.data).waitFor();
    await settings.getByRole("region", { name: "Ports" }).getByText("S3 API").waitFor();
    await looksRight(settings, "server-settings");
    const quotas = keyboardOf(settings);
    await quotas.tabTo("Quota of default");
    await quotas.press("Enter");
    await settings.getByRole("dialog", { name: "Quota of default" }).waitFor();
    await quotas.tabTo("Maximum size");
    await quotas.type("5");
    await looksRight(settings, "account-quota");
    await quotas.press("Enter");
    await settings.getByRole("row", { name: /^default .* B of 5\.0 GiB/ }).waitFor();
    assert.deepEqual(await scene.engine.quotas.accountQuota("default"), { bytes: 5 * 2 ** 30 });
    await settings.getByLabel("Theme of this browser").selectOption("dark");
    assert.equal(await settings.evaluate("document.documentElement.dataset.theme"), "dark");
  });
});
