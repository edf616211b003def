// A running store with its console, and browser pages in every theme and width. Messages on the
// browser's console and policy violations fail the tests.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Engine, PutOptions } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/open.ts";
import { until } from "../script/inside.ts";
import { type Scene, scriptScene } from "../script/scene.ts";
import type { Server, StartOptions } from "../script/server.ts";
import { complaints } from "./browser.ts";

export interface ConsoleScene {
  readonly scene: Scene;
  readonly server: Server;
  /** URL of the console, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  readonly data: string;
  /** The engine of the same store, opened in the test's process. */
  readonly engine: Engine;
  put(bucket: string, key: string, text: string | Uint8Array, options?: PutOptions): Promise<void>;
  /** Opens a signed-in page at this URL fragment; default: with the token of `store dev`. */
  open(place: string, options?: BrowserContextOptions & { readonly signInWith?: string }): Promise<Page>;
  /** Opens a page without signing in. */
  openSignedOut(options?: BrowserContextOptions): Promise<{ page: Page; context: BrowserContext }>;
}

/** Timeout for every wait on the browser. */
const patience = 300_000;

const script = "export default { fetch: () => new Response('from the script') };";

/** `prepare` writes files into the folder of the scene and returns options of the server. */
export async function consoleScene(
  t: TestContext,
  browser: Browser,
  {
    source = script,
    prepare = async () => ({}),
  }: { readonly source?: string; readonly prepare?: (scene: Scene) => Promise<StartOptions> } = {},
): Promise<ConsoleScene> {
  const scene = await scriptScene(t, source);
  const server = await scene.start("dev", await prepare(scene));
  const { url, token } = (server.announced as unknown as { console: { url: string; token: string } }).console;
  const data = `${scene.directory}/.store`;
  const { engine } = await openEngine(data);
  t.after(() => engine.close());

  async function openSignedOut(options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ viewport: { width: 1360, height: 800 }, ...options });
    t.after(() => context.close());
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(String(error.stack)));
    page.on("console", (message) => {
      // The browser also logs refused requests and blocked scripts, which tests cause on purpose.
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
    async open(place, { signInWith = token, ...options } = {}) {
      const { page } = await openSignedOut(options);
      await page.goto(`${url}/#token=${signInWith}`);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await page.goto(`${url}/${place}`);
      // Wait for the page itself, because the previous page is not busy either.
      const isShown = 'document.querySelector("main:not([aria-busy])")?.dataset.page === location.hash';
      await until(() => page.evaluate<boolean>(isShown), `${place} is shown`);
      return page;
    },
  };
}
