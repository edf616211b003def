// Browser tests of the built documentation: appearance, search, theme, and reading without scripts.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { extname } from "node:path";
import { test } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { buildSite } from "../../../docs-site/build-site.ts";
import { root } from "../../cli/store.ts";
import { looksRight } from "../appearance.ts";
import { launchOptions } from "../browser.ts";

const origin = "http://docs.example.com";
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};
const skip = existsSync(launchOptions.executablePath) ? false : "Chromium is not installed";

test("the documentation is readable in Chromium, wide and narrow, light and dark", { skip }, async (t) => {
  const { files } = buildSite({ root });
  const browser = await chromium.launch(launchOptions);
  t.after(() => browser.close());

  async function open(from: Browser, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await from.newContext({ viewport: { width: 1360, height: 900 }, ...options });
    await context.route("**/*", async (route) => {
      const url = new URL(route.request().url());
      assert.equal(url.origin, origin, "nothing is loaded from elsewhere");
      const content = files.get(url.pathname.slice(1));
      if (content === undefined) return route.fulfill({ status: 404 });
      const contentType = types[extname(url.pathname)] ?? "application/octet-stream";
      return route.fulfill({ body: Buffer.from(content), contentType });
    });
    const page = await context.newPage();
    await page.goto(`${origin}/${path}`);
    return page;
  }

  for (const path of [
    "index.html",
    "tutorial/first-object.html",
    "reference/s3-operations.html",
    "404.html",
  ]) {
    await t.test(`${path} has no accessibility violations and fits on a phone`, async () => {
      const page = await open(browser, path);
      await looksRight(page, `docs-${path.replaceAll("/", "-").replace(".html", "")}`);
      await page.context().close();
    });
  }

  await t.test("the search finds a section, and Enter opens it", async () => {
    const page = await open(browser, "index.html");
    await page.keyboard.press("/");
    await page.keyboard.type("governance retention");
    await page.locator(".results a").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#/);
    assert.match((await page.locator("main").textContent()) ?? "", /governance/i);
    await page.context().close();
  });

  await t.test("the chosen theme stays on the next page", async () => {
    const page = await open(browser, "index.html", { colorScheme: "light" });
    await page.getByRole("button", { name: "Use the dark theme" }).click();
    await page.goto(`${origin}/s3.html`);
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    await page.context().close();
  });

  await t.test("without scripts the page has its navigation, and no dead controls", async () => {
    const page = await open(browser, "s3.html", { javaScriptEnabled: false });
    assert.equal(await page.getByRole("navigation").isVisible(), true);
    assert.equal(await page.locator("#search").isVisible(), false);
    assert.equal(await page.locator("#theme").isVisible(), false);
    await page.context().close();
  });
});
