// Any value under any key of a wrangler file is accepted, or refused with a position in the file.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../../../src/script/config/config.ts";
import { ConfigError } from "../../../../src/script/config/syntax/error.ts";
import { parseSource } from "../../../../src/script/config/syntax/source.ts";
import { wranglerKeys } from "../../../../src/script/config/wrangler/keys.ts";
import { now, project } from "../../../support/projects.ts";

const values: readonly unknown[] = [
  ...[null, 7, -1.5, "", "text", true, [], {}, [null], [7], ["text"], [[]], [{}], { "": null }],
  ...[
    { binding: null },
    [{ binding: null, name: null }],
    [
      { binding: "A", name: "A" },
      { binding: "A", name: "A" },
    ],
  ],
  ...[{ bindings: [{ name: "A" }] }, { producers: "x" }, { crons: [null] }, { directory: "src", binding: 1 }],
  ...[
    [{ pattern: null }],
    { pattern: 7 },
    { staging: null },
    { staging: { env: {}, vars: [] } },
    { __proto__: 1 },
  ],
];

test("every type of value under every key of a wrangler file is accepted or refused with a position", async (t) => {
  const { directory } = await project(t);
  const least = { name: "a", main: "src/index.ts", compatibility_date: "2026-01-01" };
  for (const key of wranglerKeys[""]!) {
    for (const value of values) {
      for (const environment of [undefined, "staging"]) {
        const own = { vars: { A: "x" }, [key]: value };
        const file = { ...least, [key]: value, env: key === "env" ? value : { staging: own } };
        const bytes = new TextEncoder().encode(JSON.stringify(file));
        const source = parseSource(`${directory}/wrangler.json`, () => bytes);
        try {
          parseConfig(source, { now, environment, mode: "dev" });
        } catch (error) {
          const told = `${JSON.stringify(file)}: ${error instanceof Error ? error.stack : String(error)}`;
          assert.ok(error instanceof ConfigError, told);
          assert.notEqual(error.faults.length, 0, told);
        }
      }
    }
  }
});
