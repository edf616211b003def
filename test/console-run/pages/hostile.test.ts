// Browser tests of hostile content: scripts in keys, metadata, content types and bodies, and pages
// of other origins. Every script sets `__ran` if it runs, and no test may find it set.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { isAccessible } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

const marks = "globalThis.__ran = true; parent.__ran = true; top.__ran = true";
const scripts = [
  `<img src=x onerror="${marks}">`,
  `<script>${marks}</script>`,
  `"><svg onload="${marks}">`,
  `javascript:${marks}`,
  `'-(${marks})-'`,
  `{{constructor.constructor('${marks}')()}}`,
];
const page = `<!doctype html><script>${marks}; document.title = "ran"</script><p>shown`;

inBrowser("Hostile content", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const ran = (page: Page) => page.evaluate("globalThis.__ran === true");
  const place = (key: string) => `#/object?bucket=bucket&key=${encodeURIComponent(key)}`;

  await t.test("the console shows HTML and scripts in keys and metadata as text", async () => {
    for (const [i, text] of scripts.entries()) {
      await scene.put("bucket", text, "x", {
        httpMetadata: { contentType: text, cacheControl: text, contentDisposition: text },
        customMetadata: new Map([[text, text]]),
      });
      await scene.put("bucket", `${text}/below-${i}`, "x");
      await scene.engine.createUpload("bucket", text);
    }
    const opened = await scene.open("#/objects?bucket=bucket&view=flat");
    for (const text of scripts) await opened.locator(".cell-name a", { hasText: text }).first().waitFor();
    await opened.goto(`${scene.url}/#/uploads`);
    await opened.getByText(`${scripts.length} uploads`).waitFor();
    await isAccessible(opened, "uploads with hostile keys");
    for (const text of scripts) {
      await opened.goto(`${scene.url}/#/objects?bucket=bucket&prefix=${encodeURIComponent(`${text}/`)}`);
      await opened.getByText("1 shown").waitFor();
      await opened.goto(`${scene.url}/${place(text)}`);
      await opened.getByRole("definition").filter({ hasText: text }).first().waitFor();
      await opened.getByRole("button", { name: "More actions for the object" }).click();
      await opened.getByRole("menuitem", { name: "Edit metadata…" }).click();
      await opened.getByLabel("Cache-Control").waitFor();
      assert.equal(await opened.getByLabel("Cache-Control").inputValue(), text);
      await opened.keyboard.press("Escape");
      assert.equal(await ran(opened), false, text);
    }
  });

  await t.test("scripts in stored objects run neither in a preview nor at the preview's URL", async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${marks}"><script>${marks}</script></svg>`;
    const bodies: [string, string, string][] = [
      ["page.html", page, "text/html"],
      ["page.xhtml", page, "application/xhtml+xml"],
      ["page.svg", svg, "image/svg+xml"],
      ["page.xml", svg, "text/xml"],
      ["odd", page, "text/html; charset=utf-7"],
      ["upper", page, "TEXT/HTML"],
      ["none", page, ""],
      ["script.js", marks, "text/javascript"],
    ];
    const opened = await scene.open("#/buckets");
    for (const [key, body, contentType] of bodies) {
      await scene.put("bucket", key, body, { httpMetadata: contentType === "" ? {} : { contentType } });
      await opened.goto(`${scene.url}/${place(key)}`);
      await opened.getByRole("heading", { name: `bucket ${key}`, exact: true }).waitFor();
      await opened.getByRole("link", { name: "Download" }).waitFor();
      assert.equal(await ran(opened), false, key);
      for (const as of ["preview", "download"]) {
        const answer = await opened.request.get(`${scene.url}/api/content`, {
          params: { bucket: "bucket", key, as },
        });
        const headers = answer.headers();
        assert.match(headers["content-security-policy"]!, /^sandbox; default-src 'none'/, key);
        assert.doesNotMatch(headers["content-security-policy"]!, /allow-/);
        assert.equal(headers["x-content-type-options"], "nosniff");
        assert.match(headers["content-type"]!, /^(image\/svg\+xml|application\/octet-stream)$/, key);
        if (as === "download") assert.match(headers["content-disposition"]!, /^attachment; /);
      }
    }
    // Open the preview by its URL, as a separate document.
    await opened.goto(`${scene.url}/api/content?bucket=bucket&key=page.svg&as=preview`);
    assert.equal(await ran(opened), false);
  });

  await t.test("another origin's page can neither use a console session nor frame the console", async () => {
    const { context, page: opened } = await scene.openSignedOut();
    await opened.goto(`${scene.url}/#token=${scene.token}`);
    await opened.getByRole("heading", { name: "Overview" }).waitFor();
    // The same host on another port is the same site for the browser, so the cookie is sent.
    const other = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><title>other</title><iframe src="${scene.url}/"></iframe>`);
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    t.after(() => other.close());
    const attacker = await context.newPage();
    await attacker.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const attempt = (init: object) =>
      attacker.evaluate<string>(
        `fetch("${scene.url}/api/buckets", ${JSON.stringify(init)}).then((r) => "answered " + r.status, () => "blocked")`,
      );
    const body = JSON.stringify({ name: "stolen" });
    const blocked = [
      { credentials: "include" },
      { method: "POST", credentials: "include", body },
      { method: "POST", credentials: "include", body, headers: { "x-store-console": "1" } },
    ];
    for (const init of blocked) assert.equal(await attempt(init), "blocked");
    await attempt({ method: "POST", mode: "no-cors", credentials: "include", body });
    assert.equal(await scene.engine.bucket("stolen"), undefined);
    const frame = attacker.frames().find((one) => one !== attacker.mainFrame())!;
    assert.equal(await frame.getByRole("heading").count(), 0);
  });
});
