// A started store with its console, and pages of a browser in it: signed in or not, light or dark, wide or as narrow
// as a phone. Nothing a page says on its console, and nothing that its policy had to block, goes unnoticed.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Engine, PutOptions } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/open.ts";
import { until } from "../script/inside.ts";
import { type Scene, scriptScene } from "../script/scene.ts";
import type { Server } from "../script/server.ts";
import { complaints } from "./browser.ts";

export interface ConsoleScene {
  readonly scene: Scene;
  readonly server: Server;
  /** Of the console, without a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly data: string;
  /** The same store, opened beside the server. */
  readonly engine: Engine;
  put(bucket: string, key: string, text: string | Uint8Array, options?: PutOptions): Promise<void>;
  /** A page that shows the place behind the #, signed in. */
  open(place: string, options?: BrowserContextOptions): Promise<Page>;
  /** One that nobody has signed in. */
  openSignedOut(options?: BrowserContextOptions): Promise<{ page: Page; context: BrowserContext }>;
}

/** How long the browser may take for anything it is waited for. */
const patience = 120_000;

const script = "export default { fetch: () => new Response('from the script') };";

export async function consoleScene(
  t: TestContext,
  browser: Browser,
  source: string = script,
): Promise<ConsoleScene> {
  const scene = await scriptScene(t, source);
  const server = await scene.start("dev");
  const { url, token } = (server.announced as unknown as { console: { url: string; token: string } }).console;
  const data = `${scene.directory}/.store`;
  const { engine } = await openEngine(data);
  t.after(() => engine.close());

  async function openSignedOut(options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    t.after(() => context.close());
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(String(error.stack)));
    page.on("console", (message) => {
      // What is refused or kept from running is told by the browser, too; the tests look at that themselves.
      const isWanted = /^(Failed to load resource|Blocked script execution)/.test(message.text());
      if (message.type() === "error" && !isWanted) complaints.push(message.text());
    });
    return { page, context };
  }
  return {
    ...{ scene, server, url, token, data, engine, openSignedOut },
    async put(bucket, key, text, options) {
      const { outcome } = await engine.put(bucket, key, Buffer.from(text), options);
      assert.equal(outcome, "stored");
    },
    async open(place, options) {
      const { page } = await openSignedOut(options);
      await page.goto(`${url}/#token=${token}`);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await page.goto(`${url}/${place}`);
      // Not before the place is shown: what stood there before it is not busy either.
      const isShown = 'document.querySelector("main:not([aria-busy])")?.dataset.page === location.hash';
      await until(() => page.evaluate<boolean>(isShown), `${place} is shown`);
      return page;
    },
  };
}
