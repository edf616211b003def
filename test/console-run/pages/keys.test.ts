// Browser tests of the access keys page.
import assert from "node:assert/strict";
import { ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { until } from "../../script/inside.ts";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Keys", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const clientOf = (accessKeyId: string, secretAccessKey: string) =>
    new S3Client({
      ...{ endpoint: scene.server.announced.s3.url, region: "auto", forcePathStyle: true },
      credentials: { accessKeyId, secretAccessKey },
    });
  const list = (client: S3Client) => client.send(new ListObjectsV2Command({ Bucket: "bucket" }));

  await t.test(
    "an access key is created, used, rotated, disabled and deleted with the keyboard only",
    async () => {
      const page = await scene.open("#/keys");
      const press = (key: string) => page.keyboard.press(key);
      /** Presses Tab until the element with this name has the focus. */
      const tabTo = async (name: string) => {
        const found = async () =>
          (await page.evaluate<string>(
            "document.activeElement.ariaLabel ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent",
          )) === name;
        for (let i = 0; i < 60 && !(await found()); i++) await press("Tab");
        assert.ok(await found(), `${name} is reached by the tab key`);
      };
      const dialog = page.getByRole("dialog");

      await press("c");
      await dialog.getByText("Create an access key").waitFor();
      await press("ArrowDown");
      await tabTo("list on bucket");
      await press("Space");
      await tabTo("Expires after");
      await page.keyboard.type("soon");
      await press("Enter");
      await dialog.getByRole("alert").getByText('"soon" is not a duration').waitFor();
      await looksRight(page, "key-create");
      await press("Control+a");
      await page.keyboard.type("30d");
      await press("Enter");
      await dialog.getByText("it is not shown again").waitFor();
      const accessKeyId = await dialog.getByLabel("Access key id", { exact: true }).inputValue();
      const secret = await dialog.getByLabel("Secret access key", { exact: true }).inputValue();
      await looksRight(page, "key-secret");
      await tabTo("I have saved it");
      await press("Enter");
      await page
        .getByRole("row", { name: new RegExp(`${accessKeyId} default active bucket: list .* never`) })
        .waitFor();

      const client = clientOf(accessKeyId, secret);
      assert.equal((await list(client)).KeyCount, 0);
      await assert.rejects(client.send(new PutObjectCommand({ Bucket: "bucket", Key: "x", Body: "x" })), {
        name: "AccessDenied",
      });
      await until(async () => {
        await page.reload();
        await page.locator("main:not([aria-busy])").waitFor();
        return !(await page.getByRole("row", { name: accessKeyId }).innerText()).includes("never");
      }, "the use of the key is shown");
      await looksRight(page, "keys");

      await tabTo(`Rotate ${accessKeyId}`);
      await press("Enter");
      await press("Enter");
      const rotated = await dialog.getByLabel("Secret access key", { exact: true }).inputValue();
      assert.notEqual(rotated, secret);
      await tabTo("I have saved it");
      await press("Enter");
      for (const one of [secret, rotated]) assert.equal((await list(clientOf(accessKeyId, one))).KeyCount, 0);

      await tabTo(`Disable ${accessKeyId}`);
      await press("Enter");
      await page.getByRole("row", { name: new RegExp(`${accessKeyId} default disabled`) }).waitFor();
      await assert.rejects(list(client));
      await tabTo(`Enable ${accessKeyId}`);
      await press("Enter");
      await page.getByRole("row", { name: new RegExp(`${accessKeyId} default active`) }).waitFor();
      assert.equal((await list(client)).KeyCount, 0);

      await tabTo(`Delete ${accessKeyId}`);
      await press("Enter");
      await page.keyboard.type(accessKeyId);
      await press("Enter");
      await page.getByText(`Deleted access key ${accessKeyId}.`).waitFor();
      await page.getByRole("row", { name: accessKeyId }).waitFor({ state: "detached" });
      await assert.rejects(list(client), { name: "InvalidAccessKeyId" });
    },
  );
});
