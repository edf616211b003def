// Browser tests of the metrics page.
import assert from "node:assert/strict";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { looksRight, picture } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Metrics", async (t, browser) => {
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

  await t.test("every chart on the metrics page has a text summary and is updated", async () => {
    const page = await scene.open("#/metrics");
    const names = [
      ...["Requests per second", "Latency", "Bytes per second", "Errors per second"],
      ...["Stored bytes", "Stored objects"],
    ];
    for (const name of names) {
      await page.getByRole("img", { name: new RegExp(`^${name}: `) }).waitFor();
    }
    const requests = page.getByRole("region", { name: "Requests per second" });
    assert.match((await requests.getByRole("img").getAttribute("aria-label"))!, /Requests (?!–)/);
    await page.getByRole("region", { name: "Scrub" }).getByText("No damage was found.").waitFor();
    // Totals are measured on request, so the next refresh shows them.
    await page.getByRole("img", { name: /^Stored objects: Objects 5/ }).waitFor();
    await looksRight(page, "metrics");
  });

  await t.test("filters and tables of the metrics page work with the keyboard", async () => {
    const page = await scene.open("#/metrics");
    const face = page.getByLabel("Requests to", { exact: true });
    await face.focus();
    await page.keyboard.press("ArrowDown");
    const isChosen = (list: string, value: string) =>
      page.locator(`#${list} option[value="${value}"][selected]`).waitFor({ state: "attached" });
    await isChosen("metrics-face", "s3");
    assert.equal(await page.getByLabel("Requests to", { exact: true }).inputValue(), "s3");
    await page.getByLabel("Time range", { exact: true }).selectOption("week");
    await isChosen("metrics-span", "week");
    await isChosen("metrics-face", "s3");
    const summary = page.getByRole("region", { name: "Latency" }).locator("summary");
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Latency" }).getByRole("columnheader", { name: "p99" }).waitFor();
    await picture(page, "metrics-table");
  });
});
