// Browser tests of the page of one object: metadata, previews, links and editing.
import assert from "node:assert/strict";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { pdfText, png, wav } from "../samples.ts";
import { consoleScene } from "../scene.ts";

/** Waits until the browser has loaded the audio, and returns its duration in seconds. */
const seconds = `new Promise((resolve) => {
  const audio = document.querySelector(".preview audio");
  audio.addEventListener("loadedmetadata", () => resolve(audio.duration));
  if (audio.readyState > 0) resolve(audio.duration);
})`;

inBrowser("An object", async (t, browser) => {
  const scene = await consoleScene(t, browser);
  const type = (contentType: string) => ({ httpMetadata: { contentType } });
  await scene.put("bucket", "notes/todo.json", '{"do":["water the roses"]}', {
    ...type("application/json"),
    customMetadata: new Map([["author", "anna"]]),
    checksums: [{ algorithm: "sha256" }],
  });
  const place = (key: string) => `#/object?bucket=bucket&key=${encodeURIComponent(key)}`;

  await t.test("the object page shows all metadata and formatted JSON", async () => {
    const page = await scene.open(place("notes/todo.json"));
    const record = (await scene.engine.head("bucket", "notes/todo.json"))!;
    for (const text of [record.version, record.etag, "26 B (26 B)", "Standard", "anna", "SHA-256"]) {
      await page.getByText(text, { exact: true }).first().waitFor();
    }
    await page.getByText('"water the roses"').waitFor();
    await looksRight(page, "object");
  });

  await t.test("edited metadata is saved, unless the object has changed meanwhile", async () => {
    const page = await scene.open(place("notes/todo.json"));
    await page.keyboard.press("e");
    await page.getByLabel("Cache-Control").fill("max-age=60");
    await page.getByRole("button", { name: "Add" }).click();
    await page.keyboard.type("place");
    await page.keyboard.press("Tab");
    await page.keyboard.type("garden");
    await looksRight(page, "object-metadata");
    await page.keyboard.press("Enter");
    await page.getByText("Saved the metadata.").waitFor();
    const record = (await scene.engine.head("bucket", "notes/todo.json"))!;
    assert.deepEqual(record.httpMetadata, { contentType: "application/json", cacheControl: "max-age=60" });
    assert.deepEqual(
      [...record.customMetadata],
      [
        ["author", "anna"],
        ["place", "garden"],
      ],
    );
    assert.ok(record.checksums.sha256);

    await page.getByRole("button", { name: "More actions for the object" }).click();
    await page.getByRole("menuitem", { name: "Edit metadata…" }).click();
    await scene.put("bucket", "notes/todo.json", "{}", type("application/json"));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The object was changed or deleted meanwhile.").waitFor();
    assert.equal((await scene.engine.head("bucket", "notes/todo.json"))!.size, 2);
  });

  await t.test("the object page shows source text, CSV and Markdown without running HTML", async () => {
    const markdown =
      "# Title\n\n- **one**\n\n[bad](javascript:alert(1)) [good](https://example.com)\n\n<b>raw</b>";
    await scene.put("bucket", "a.md", markdown, type("text/markdown"));
    await scene.put("bucket", "a.csv", 'name,size\n"rose, red",1\n', type("text/csv"));
    await scene.put("bucket", "a.js", "// note\nconst a = 'b';", type("text/javascript"));
    const page = await scene.open(place("a.md"));
    await page.getByRole("heading", { name: "Title" }).waitFor();
    await page.getByText("<b>raw</b>").waitFor();
    assert.equal(await page.getByRole("link", { name: "bad" }).count(), 0);
    await looksRight(page, "preview-markdown");
    await page.goto(`${scene.url}/${place("a.csv")}`);
    await page.getByRole("cell", { name: "rose, red" }).waitFor();
    await looksRight(page, "preview-csv");
    await page.goto(`${scene.url}/${place("a.js")}`);
    await page.locator(".token-comment", { hasText: "// note" }).waitFor();
    await looksRight(page, "preview-source");
  });

  await t.test("the object page previews images, audio, PDF and text", async () => {
    await scene.put("bucket", "pixel.png", png(3, 2), type("image/png"));
    await scene.put("bucket", "beep.wav", wav(0.1), type("audio/wav"));
    await scene.put("bucket", "hello.pdf", pdfText("Hello"), type("application/pdf"));
    await scene.put("bucket", "long.txt", "line\n".repeat(100_000), type("text/plain"));
    const page = await scene.open(place("pixel.png"));
    const picture = page.getByRole("img", { name: "Preview of pixel.png" });
    await picture.waitFor();
    const width =
      "document.querySelector('.preview img').decode().then(() => document.querySelector('.preview img').naturalWidth)";
    assert.equal(await page.evaluate(width), 3);
    await page.goto(`${scene.url}/${place("beep.wav")}`);
    await page.getByLabel("Preview of beep.wav").waitFor();
    assert.ok(Number(await page.evaluate(seconds)) > 0.05);
    await page.goto(`${scene.url}/${place("long.txt")}`);
    await page.getByText("The first 256 KiB of 488 KiB.").waitFor();
    // The PDF is shown in a frame from the S3 API, which is another origin.
    const framed = page.waitForResponse(/hello\.pdf\?response-content-disposition=inline/);
    await page.goto(`${scene.url}/${place("hello.pdf")}`);
    const response = await framed;
    assert.equal(response.status(), 200);
    assert.equal(response.headers()["content-type"], "application/pdf");
    assert.notEqual(new URL(response.url()).origin, scene.url);
  });

  await t.test(
    "the object page can copy key, URL and presigned link, and download and delete the object",
    async () => {
      const page = await scene.open(place("pixel.png"), {
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
      const choose = async (name: string) => {
        await page.getByRole("button", { name: "More actions for the object" }).click();
        await page.getByRole("menuitem", { name }).click();
      };
      await choose("Copy key");
      await page.getByText("Copied the key.").waitFor();
      assert.equal(await copied(), "pixel.png");
      // The bucket is private, so that a URL that works is a share link.
      await page.getByRole("button", { name: "Copy URL" }).click();
      await page.getByRole("button", { name: "Create link" }).click();
      await page.getByRole("button", { name: "Copy the link" }).click();
      await page.getByText("Copied the link.").waitFor();
      assert.match(await copied(), /\/share\/[\w-]{43}\/pixel\.png$/);
      assert.equal((await fetch(await copied())).status, 200);
      await page.getByRole("button", { name: "Done" }).click();
      await choose("Signed link…");
      await page.getByRole("button", { name: "Create link" }).click();
      const answer = await fetch(await page.getByLabel("Link", { exact: true }).inputValue());
      await page.getByRole("button", { name: "Done" }).click();
      assert.equal(answer.status, 200);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const download = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download" }).click();
      const file = await download;
      assert.equal(file.suggestedFilename(), "pixel.png");
      const chunks: Uint8Array[] = [];
      for await (const chunk of await file.createReadStream()) chunks.push(chunk as Uint8Array);
      assert.deepEqual(Buffer.concat(chunks), bytes);
      await choose("Delete…");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("Deleted 1 object.").waitFor();
      await page.getByRole("row", { name: /beep.wav/ }).waitFor();
      assert.equal(await scene.engine.head("bucket", "pixel.png"), undefined);
    },
  );
});
