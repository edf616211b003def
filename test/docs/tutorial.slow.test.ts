// Runs every command of the tutorial and of the how-to pages, with a server where they use one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { PutBucketCorsCommand, S3Client } from "@aws-sdk/client-s3";
import { outcomeOf, root, shellIn } from "../cli/store.ts";
import { blocksOf } from "./page/markdown.ts";
import { cloneFolder, withDev, writeFiles } from "./page/project.ts";
import { playPage } from "./page/terminal-page.ts";

const shownUrl = "http://127.0.0.1:9002";

/** Starts `store serve` for the first command that asks the port of public buckets. */
function withPublicServer(t: TestContext): (command: string, directory: string) => Promise<string> {
  let url: string | undefined;
  return async (command, directory) => {
    if (command.includes(shownUrl)) url ??= await startServer(t, directory);
    return url === undefined ? command : command.replaceAll(shownUrl, url);
  };
}

async function startServer(t: TestContext, directory: string): Promise<string> {
  const ports = ["--s3-port", "0", "--console-port", "0", "--public-port", "0"];
  const server = shellIn(directory).start(["serve", ...ports, "--json"]);
  const ended = outcomeOf(server);
  t.after(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  const first = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
  assert.ok(Array.isArray(first), JSON.stringify(first));
  return (JSON.parse(String(first[0])) as { public: { url: string } }).public.url;
}

for (const page of ["tutorial/first-object.md", "how-to/publish-a-website.md"]) {
  test(`every command in docs/${page} prints the output shown`, (t) =>
    playPage(t, page, { prepare: withPublicServer(t) }));
}

test("the script and the page code in docs/how-to/upload-from-a-browser.md upload a file with temporary credentials", async (t) => {
  const blocks = blocksOf(readFileSync(join(root, "docs/how-to/upload-from-a-browser.md"), "utf8"));
  const text = (language: string) => blocks.find((block) => block.language === language)!.text;
  const directory = await cloneFolder(t, "uploads");
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  await writeFiles(directory, {
    "store.toml":
      'name = "uploads"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n' +
      'store_buckets = [{ binding = "BUCKET", bucket_name = "photos" }]\n',
    "src/index.ts": text("ts"),
  });
  await writeFile(join(directory, "page.mjs"), text("js"));
  const { upload } = (await import(join(directory, "page.mjs"))) as {
    upload(file: File, url: string, headers: Record<string, string>): Promise<string>;
  };
  await withDev(directory, [], async (url, { url: endpoint, ...credentials }) => {
    assert.equal((await fetch(url)).status, 401);
    const headers = { "x-visitor": "anna" };
    const file = new File(["a picture"], "cat.jpg", { type: "image/jpeg" });
    assert.equal(await upload(file, url, headers), "visitors/anna/cat.jpg");
    assert.equal(
      await shellIn(directory).store("object", "get", "photos/visitors/anna/cat.jpg", "-"),
      "a picture",
    );
    // "append" does not overwrite, as the page says.
    await assert.rejects(upload(file, url, headers), { name: "AccessDenied" });

    const client = new S3Client({ endpoint, region: "auto", forcePathStyle: true, credentials });
    const CORSConfiguration = JSON.parse(text("json")) as { CORSRules: [] };
    await client.send(new PutBucketCorsCommand({ Bucket: "photos", CORSConfiguration }));
    const preflight = await fetch(`${endpoint}/photos/visitors/anna/dog.jpg`, {
      method: "OPTIONS",
      headers: { Origin: "https://www.example.com", "Access-Control-Request-Method": "PUT" },
    });
    assert.equal(preflight.status, 200);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "https://www.example.com");
  });
});
