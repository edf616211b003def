// The table `assets` of a configuration: parsed values, and every error in it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { project, type Row, refusals } from "../../support/projects.ts";

const alone = 'name = "site"\ncompatibility_date = "2026-11-01"\n';
const least = `main = "src/index.ts"\n${alone}`;
const assets = (...lines: string[]) => `${least}[assets]\ndirectory = "public"\n${lines.join("\n")}\n`;

test("every key of the assets configuration except directory has a default", async (t) => {
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
    what: "a configuration without main and assets",
    text: alone,
    at: "1:1",
    says: ['"main" is missing.'],
  },
  {
    what: "an assets table without a directory",
    text: `${least}[assets]\n`,
    at: "4:1",
    says: ['"directory" is missing in assets.', 'directory = "./public"'],
  },
  {
    what: "an assets directory that does not exist",
    text: assets().replace("public", "dist"),
    at: "5:13",
    says: ['There is no folder "dist".', "run that build first"],
  },
  {
    what: "an assets directory of a package that is not installed",
    text: assets().replace("public", "node_modules/site/dist"),
    at: "5:13",
    says: ['There is no folder "node_modules/site/dist".', "It belongs to a package: run npm install first."],
  },
  {
    what: "an assets directory that is a file",
    text: assets().replace("public", "src/index.ts"),
    at: "5:13",
    says: ['"src/index.ts" is not a folder.'],
  },
  {
    what: "a mistyped key of assets",
    text: assets("html_handlng = 1"),
    at: "6:1",
    says: ["did you mean html_handling?"],
  },
  {
    what: "an assets binding that is not an identifier",
    text: assets('binding = "my-assets"'),
    at: "6:11",
    says: ["is not a JavaScript identifier", 'Write: binding = "my_assets"'],
  },
  {
    what: "a variable with the name of the assets binding",
    text: assets('binding = "A"', "[vars]", "A = 1"),
    at: "8:1",
    says: ['"A" is already the name of the assets binding, on line 6.'],
  },
  {
    what: "an unknown value of html_handling",
    text: assets('html_handling = "auto-trailing-slashes"'),
    at: "6:17",
    says: ["did you mean auto-trailing-slash?", "It is one of: auto-trailing-slash, force"],
  },
  {
    what: "a number as not_found_handling",
    text: assets("not_found_handling = 404"),
    at: "6:22",
    says: ["must be a string, not a number"],
  },
  {
    what: "a run_worker_first pattern without a leading slash",
    text: assets('run_worker_first = ["/a", "api/*"]'),
    at: "6:27",
    says: ['The path "api/*" does not begin with a slash.'],
  },
  {
    what: "a run_worker_first list with only exclusions",
    text: assets('run_worker_first = ["!/api/*"]'),
    at: "6:20",
    says: ["names no path that goes to the script"],
  },
  {
    what: "a run_worker_first pattern that is not in a list",
    text: assets('run_worker_first = "/api/*"'),
    at: "6:20",
    says: ["must be true, false or a list of paths"],
  },
  {
    what: "an assets binding without a script",
    text: assets('binding = "ASSETS"').replace('main = "src/index.ts"\n', ""),
    at: "5:11",
    says: ["Assets that are served without a script have no binding."],
  },
  {
    what: "run_worker_first without a script",
    text: assets("run_worker_first = true").replace('main = "src/index.ts"\n', ""),
    at: "5:20",
    says: ['No script can run first: "main" is missing.'],
  },
  {
    what: "a cron trigger without a script",
    text: assets("[triggers]", 'crons = ["* * * * *"]').replace('main = "src/index.ts"\n', ""),
    at: "5:1",
    says: ['No script can be triggered: "main" is missing.'],
  },
];

test("every error in the assets table is reported at its position", async (t) => {
  const shown = await project(t);
  await shown.write("public/index.html", "");
  await refusals(t, shown, "store.toml", rows);
});
