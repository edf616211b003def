// The table `assets` of a configuration: what it is read as, and every fault of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { project, type Row, refusals } from "../../support/projects.ts";

const alone = 'name = "site"\ncompatibility_date = "2026-11-01"\n';
const least = `main = "src/index.ts"\n${alone}`;
const assets = (...lines: string[]) => `${least}[assets]\ndirectory = "public"\n${lines.join("\n")}\n`;

test("assets need a directory, and everything else has a default", async (t) => {
  const { read, write, directory } = await project(t);
  await write("public/index.html", "");
  const { assets: read1, main } = await read("store.toml", `${alone}[assets]\ndirectory = "./public/"\n`);
  assert.equal(main, undefined);
  assert.deepEqual(read1, {
    directory: join(directory, "public"),
    binding: undefined,
    notFoundHandling: "none",
    htmlHandling: "auto-trailing-slash",
    runWorkerFirst: false,
  });
  const lines = [
    'binding = "ASSETS"',
    'not_found_handling = "404-page"',
    'html_handling = "drop-trailing-slash"',
    'run_worker_first = ["/api/*", "!/api/docs/*"]',
  ];
  assert.deepEqual((await read("store.toml", assets(...lines))).assets, {
    directory: join(directory, "public"),
    binding: "ASSETS",
    notFoundHandling: "404-page",
    htmlHandling: "drop-trailing-slash",
    runWorkerFirst: ["/api/*", "!/api/docs/*"],
  });
  assert.equal((await read("store.toml", assets("run_worker_first = true"))).assets?.runWorkerFirst, true);
});

const rows: readonly Row[] = [
  {
    what: "a script is needed without assets",
    text: alone,
    at: "1:1",
    says: ['"main" is missing.'],
  },
  {
    what: "a directory that is missing",
    text: `${least}[assets]\n`,
    at: "4:1",
    says: ['"directory" is missing in assets.', 'directory = "./public"'],
  },
  {
    what: "a directory that is not there",
    text: assets().replace("public", "dist"),
    at: "5:13",
    says: ['There is no folder "dist".', "run that build first"],
  },
  {
    what: "a directory of a package that is not installed",
    text: assets().replace("public", "node_modules/site/dist"),
    at: "5:13",
    says: ['There is no folder "node_modules/site/dist".', "It belongs to a package: run npm install first."],
  },
  {
    what: "a directory that is a file",
    text: assets().replace("public", "src/index.ts"),
    at: "5:13",
    says: ['"src/index.ts" is not a folder.'],
  },
  {
    what: "a mistyped key",
    text: assets("html_handlng = 1"),
    at: "6:1",
    says: ["did you mean html_handling?"],
  },
  {
    what: "a binding that is not an identifier",
    text: assets('binding = "my-assets"'),
    at: "6:11",
    says: ["is not a JavaScript identifier", 'Write: binding = "my_assets"'],
  },
  {
    what: "a binding that a variable has too",
    text: assets('binding = "A"', "[vars]", "A = 1"),
    at: "8:1",
    says: ['"A" is already the name of the assets binding, on line 6.'],
  },
  {
    what: "a kind of html_handling that is none",
    text: assets('html_handling = "auto-trailing-slashes"'),
    at: "6:17",
    says: ["did you mean auto-trailing-slash?", "It is one of: auto-trailing-slash, force"],
  },
  {
    what: "a kind of not_found_handling that is none",
    text: assets("not_found_handling = 404"),
    at: "6:22",
    says: ["must be a string, not a number"],
  },
  {
    what: "a pattern without a slash",
    text: assets('run_worker_first = ["/a", "api/*"]'),
    at: "6:27",
    says: ['The path "api/*" does not begin with a slash.'],
  },
  {
    what: "nothing but exclusions",
    text: assets('run_worker_first = ["!/api/*"]'),
    at: "6:20",
    says: ["names no path that goes to the script"],
  },
  {
    what: "a pattern in place of a list",
    text: assets('run_worker_first = "/api/*"'),
    at: "6:20",
    says: ["must be true, false or a list of paths"],
  },
  {
    what: "a binding without a script",
    text: assets('binding = "ASSETS"').replace('main = "src/index.ts"\n', ""),
    at: "5:11",
    says: ["Assets that are served without a script have no binding."],
  },
  {
    what: "a script that is to run first, and is not there",
    text: assets("run_worker_first = true").replace('main = "src/index.ts"\n', ""),
    at: "5:20",
    says: ['No script can run first: "main" is missing.'],
  },
  {
    what: "triggers without a script",
    text: assets("[triggers]", 'crons = ["* * * * *"]').replace('main = "src/index.ts"\n', ""),
    at: "5:1",
    says: ['No script can be triggered: "main" is missing.'],
  },
];

test("every fault of the table is reported at its place", async (t) => {
  const shown = await project(t);
  await shown.write("public/index.html", "");
  await refusals(t, shown, "store.toml", rows);
});
