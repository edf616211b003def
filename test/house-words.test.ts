// Keeps old words out of the names in src: a name should mean to a stranger what it means here.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** Words of a name that say too little, or mean something else elsewhere. */
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

/** Names that stored data, other programs or platform interfaces prescribe. */
const prescribed: Readonly<Record<string, readonly string[]>> = {
  // A column of the databases.
  "local/index/orphaned-buckets.ts": ["place"],
  "local/integrity/check-bucket.ts": ["place"],
  "local/integrity/check-registry.ts": ["place"],
  // Kinds of messages to the process that commits.
  "local/commit/message-shapes.ts": ["tell", "forget"],
};

/** Comments, regular expressions and strings come first, so that only names are left of the rest. */
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
