// Browser tests of the access keys page.
import assert from "node:assert/strict";
import { ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { until } from "../../script/inside.ts";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Keys", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const clientOf = (accessKeyId: string, secretAccessKey: string) =>
    new S3Client({
      ...{ endpoint: scene.server.announced.s3.url, region: "auto", forcePathStyle: true },
      credentials: { accessKeyId, secretAccessKey },
    });
  const list = (client: S3Client, prefix = "2026/") =>
    client.send(new ListObjectsV2Command({ Bucket: "bucket", Prefix: prefix }));

  await t.test(
    "a key for one prefix is created, used, rotated, disabled and deleted with the keyboard only",
    async () => {
      const page = await scene.open("#/keys");
      const { press, type, tabTo } = keyboardOf(page);
      const dialog = page.getByRole("dialog");

      await press("c");
      await dialog.getByRole("heading", { name: "Create key" }).waitFor();
      await type("pictures of 2026");
      await tabTo("Key prefix");
      await type("2026/");
      await tabTo("Expires after");
      await type("soon");
      await press("Enter");
      await dialog.getByRole("alert").getByText('"soon" is not a duration').waitFor();
      await looksRight(page, "key-create");
      await press("Control+a");
      await type("30d");
      await press("Enter");
      await dialog.getByText("it is not shown again").waitFor();
      const accessKeyId = await dialog.getByLabel("Access key id", { exact: true }).inputValue();
      const secret = await dialog.getByLabel("Secret access key", { exact: true }).inputValue();
      await looksRight(page, "key-secret");
      await tabTo("I have saved it");
      await press("Enter");
      const row = (state: string) =>
        page.getByRole("row", {
          name: new RegExp(`pictures of 2026 ?${accessKeyId} ${state} .*bucket/2026/\\*: read, list`),
        });
      await row("active").waitFor();

      const client = clientOf(accessKeyId, secret);
      assert.equal((await list(client)).KeyCount, 0);
      await assert.rejects(list(client, ""), { name: "AccessDenied" });
      await assert.rejects(
        client.send(new PutObjectCommand({ Bucket: "bucket", Key: "2026/x", Body: "x" })),
        {
          name: "AccessDenied",
        },
      );
      await until(async () => {
        await page.reload();
        await page.locator("main:not([aria-busy])").waitFor();
        return !(await page.getByRole("row", { name: accessKeyId }).innerText()).includes("never");
      }, "the use of the key is shown");
      await looksRight(page, "keys");

      await tabTo(`Actions for ${accessKeyId}`);
      await press("Enter");
      await page.getByRole("menu").waitFor();
      await looksRight(page, "key-menu");
      await press("Enter", "Enter");
      const rotated = await dialog.getByLabel("Secret access key", { exact: true }).inputValue();
      assert.notEqual(rotated, secret);
      await tabTo("I have saved it");
      await press("Enter");
      for (const one of [secret, rotated]) assert.equal((await list(clientOf(accessKeyId, one))).KeyCount, 0);

      await tabTo(`Actions for ${accessKeyId}`);
      await press("Enter", "ArrowDown", "Enter");
      await row("disabled").waitFor();
      await assert.rejects(list(client));
      await tabTo(`Actions for ${accessKeyId}`);
      await press("Enter", "ArrowDown", "Enter");
      await row("active").waitFor();
      assert.equal((await list(client)).KeyCount, 0);

      await tabTo(`Actions for ${accessKeyId}`);
      await press("Enter", "End", "Enter");
      await type(accessKeyId);
      await press("Enter");
      await page.getByText(`Deleted access key ${accessKeyId}.`).waitFor();
      await page.getByRole("row", { name: accessKeyId }).waitFor({ state: "detached" });
      await assert.rejects(list(client), { name: "InvalidAccessKeyId" });
    },
  );

  await t.test("a key that clients already have is imported", async () => {
    const page = await scene.open("#/keys");
    const { press, type, tabTo } = keyboardOf(page);
    await press("c");
    await page.getByRole("dialog").getByRole("heading", { name: "Create key" }).waitFor();
    await tabTo("Import a key that clients already have");
    await press("Enter");
    await tabTo("Access key id");
    await type("AKIAOFTHEOLDSERVER00");
    await looksRight(page, "key-import");
    await tabTo("Secret access key");
    await type("short");
    await press("Enter");
    await page
      .getByRole("dialog")
      .getByRole("alert")
      .getByText(/secret/i)
      .waitFor();
    await press("Control+a");
    const secret = "an-old-secret-of-forty-characters-000000";
    await type(secret);
    await press("Enter");
    await page.getByText("Imported the key AKIAOFTHEOLDSERVER00.").waitFor();
    await page.getByRole("row", { name: /AKIAOFTHEOLDSERVER00 active/ }).waitFor();
    assert.equal((await list(clientOf("AKIAOFTHEOLDSERVER00", secret))).KeyCount, 0);
  });
});
