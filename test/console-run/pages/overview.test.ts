// Browser tests of the overview and of the frame: charts, palette, drawer and reconnection.
import assert from "node:assert/strict";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { isAccessible, looksRight, picture } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Overview", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const { accessKeyId, secretAccessKey } = scene.server.announced.s3 as unknown as {
    accessKeyId: string;
    secretAccessKey: string;
  };
  const client = new S3Client({
    ...{ endpoint: scene.server.announced.s3.url, region: "auto", forcePathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  });
  t.after(() => client.destroy());
  for (let i = 0; i < 5; i++) {
    await client.send(new PutObjectCommand({ Bucket: "bucket", Key: `${i}`, Body: "1234567890" }));
  }
  await (await fetch(scene.server.announced.url)).text();
  await scene.engine.createBucket("photos-2026");

  await t.test("the overview shows charts with a text summary, health and recent changes", async () => {
    const page = await scene.open("#/overview?span=hour");
    const names = [
      ...["Requests per second", "Latency", "Bytes per second", "Errors per second"],
      ...["Stored bytes", "Stored objects"],
    ];
    for (const name of names) {
      await page.getByRole("img", { name: new RegExp(`^${name}: `) }).waitFor();
    }
    const requests = page.getByRole("region", { name: "Requests per second" });
    assert.match((await requests.getByRole("img").getAttribute("aria-label"))!, /Requests (?!–)/);
    const health = page.getByRole("region", { name: "Health" });
    await health.getByText("Ready").waitFor();
    await health.getByText("No backup yet").waitFor();
    await page.getByRole("region", { name: "Recent changes" }).getByText("sign in").first().waitFor();
    // Totals are measured on request, so the next refresh shows them.
    await page.getByRole("img", { name: /^Stored objects: Objects 5/ }).waitFor();
    await looksRight(page, "overview");
  });

  await t.test("ranges, filters, tooltips and tables of the charts work with the keyboard", async () => {
    const page = await scene.open("#/overview");
    const { press, tabTo } = keyboardOf(page);
    await page.getByLabel("Requests to").focus();
    await press("ArrowDown");
    await page.locator('#overview-face option[value="s3"][selected]').waitFor({ state: "attached" });
    await tabTo("30 d");
    await press("Enter");
    await page.locator('a[aria-current="true"]').getByText("30 d").waitFor();
    const latency = page.getByRole("region", { name: "Latency" });
    // A server that has just started has no points yet; a chart with the focus is not redrawn.
    await latency.getByRole("img", { name: /p99 (?!–)/ }).waitFor();
    await latency.getByRole("img").focus();
    await press("Home");
    await latency.getByRole("status").getByText("p99").waitFor();
    await picture(page, "overview-tooltip");
    await press("Escape");
    await latency.locator("summary").focus();
    await press("Enter");
    await latency.getByRole("columnheader", { name: "p99" }).waitFor();
    await looksRight(page, "overview-table");
  });

  await t.test(
    "the first Tab skips to the content, and the palette finds pages, buckets and actions",
    async () => {
      const page = await scene.open("#/buckets");
      const { press, type } = keyboardOf(page);
      await page.reload();
      await page.locator("main[data-page]").waitFor();
      await press("Tab");
      assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to content");
      await press("Enter");
      assert.equal(await page.evaluate("document.activeElement.id"), "main");
      await press("Control+k");
      await page.getByRole("option", { name: "bucket Bucket", exact: true }).waitFor();
      await looksRight(page, "palette");
      await type("no such thing");
      await page.getByText("Nothing found.").waitFor();
      await press("Control+a");
      await type("2026");
      await page.getByRole("option", { name: "photos-2026 Bucket" }).waitFor();
      await press("Enter");
      await page.waitForURL(/#\/objects\?bucket=photos-2026/);
      await press("Control+k");
      await type("create key");
      await press("Enter");
      await page.getByRole("dialog").getByRole("heading", { name: "Create key" }).waitFor();
    },
  );

  await t.test("on a phone the pages are in a drawer", async () => {
    const page = await scene.open("#/buckets");
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole("link", { name: "Scripts" }).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Pages" }).click();
    await page.getByRole("link", { name: "Scripts" }).waitFor();
    await isAccessible(page, "drawer");
    await picture(page, "drawer");
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Scripts" }).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Pages" }).click();
    await page.getByRole("link", { name: "Scripts" }).click();
    await page.getByRole("heading", { name: "Scripts" }).waitFor();
  });

  await t.test("a lost connection is shown, and the page continues when the server answers", async () => {
    const page = await scene.open("#/buckets");
    await page.context().setOffline(true);
    await page.evaluate("location.hash = '#/settings'");
    await page.getByRole("heading", { name: "The server cannot be reached." }).waitFor();
    await page.getByText("Server unreachable, retrying…").waitFor();
    await looksRight(page, "offline");
    await page.context().setOffline(false);
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.getByText("Server unreachable, retrying…").waitFor({ state: "hidden" });
  });
});
