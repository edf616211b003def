// Checks that names in src contain no words that the naming rules forbid.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** Words that are vague or have another meaning in the field. */
const oldWords = new Set(
  [
    "tell tells telling told place places witness attest bury buried buries forget acts figure figures",
    "fence fenced fallen glance room rooms turns crumb crumbs crowd crowded wish intake gather gathered",
    "gathering lane lanes door doors guest visit handover straight filler shelf ledger intend owed",
    "usual most least longest anew",
  ]
    .join(" ")
    .split(" "),
);

const oldPhrases =
  /^(takeIn|giveBack|giveUp|goOn|inTurns|seenOnce|isHeld)$|atOnce|underWay|^(Known|Asked|Said|Told|Kept|Begun|Named|Held)$/;

/** Names that are required by stored data, other programs or platform interfaces. */
const prescribed: Readonly<Record<string, readonly string[]>> = {
  // `place` is a column of the databases.
  "local/index/orphaned-buckets.ts": ["place"],
  "local/integrity/check-bucket.ts": ["place"],
  "local/integrity/check-registry.ts": ["place"],
  // `tell` and `forget` are message kinds of the commit server.
  "local/commit/message-shapes.ts": ["tell", "forget"],
};

/** Matches comments, regular expressions and strings first, so that names in them do not count. */
const tokens = new RegExp(
  [
    /\/\/[^\n]*|\/\*[\s\S]*?\*\//,
    /(?<=[=(,:!&|?{;[]\s*|return )\/(?:[^/\\\n[]|\\.|\[(?:\\.|[^\]\\\n])*\])+\//,
    /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|\$\{[^}`]*\}|[^`\\])*`/,
    /[A-Za-z_$][\w$]*/,
  ]
    .map(({ source: pattern }) => pattern)
    .join("|"),
  "g",
);

function namesIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [token] of text.matchAll(tokens)) if (/^[A-Za-z_$]/.test(token)) found.add(token);
  return found;
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_$]+/);
}

test("no name in src contains a word that the naming rules replace", () => {
  const found: string[] = [];
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (!/\.(ts|js)$/.test(file)) continue;
    const allowed = prescribed[file] ?? [];
    for (const name of namesIn(readFileSync(join(source, file), "utf8"))) {
      const isOld = oldPhrases.test(name) || wordsOf(name).some((word) => oldWords.has(word));
      if (isOld && !allowed.includes(name)) found.push(`src/${file}: ${name}`);
    }
  }
  assert.deepEqual(found, []);
});
