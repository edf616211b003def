// Checks of configuration values: what each key accepts, and a hint for any other value.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { compatibilityFlags as bucketFlags, parseCompatibility } from "../../binding/compatibility.ts";
import { checkBucketName } from "../../model/bucket.ts";
import { nearest } from "../../model/names/did-you-mean.ts";
import { asIdentifier, identifierFault, identifierRule } from "../../model/names/identifier.ts";
import { asScriptName, isScriptName, scriptNameRule } from "../../model/names/script-name.ts";
import type { BucketBinding } from "../bindings.ts";
import { runtimeFlags } from "./runtime-flags.ts";
import type { Element, Fields, Table } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";

export function checkName(fields: Fields, top: Table): string {
  const suggested = asScriptName(basename(dirname(fields.source.file))) ?? "photos";
  if (top.name === undefined) fields.missing(["name"], addLineHint(fields, fields.line("name", suggested)));
  const name = fields.string(["name"], top.name, fields.line("name", suggested));
  if (name !== undefined && !isScriptName(name)) {
    const nearby = asScriptName(name) ?? suggested;
    fields.report(["name"], {
      message: `${JSON.stringify(name)} cannot be a script's name: it is ${scriptNameRule}.`,
      hint: `Write: ${fields.line("name", nearby)}`,
    });
  }
  return name ?? "";
}

function addLineHint({ source }: Fields, line: string): string {
  return source.format === "toml"
    ? `Add this line at the top of the file:\n    ${line}`
    : `Add this to the object:\n    ${line},`;
}

const defaultMains = ["src/index.ts", "src/index.js", "index.ts", "index.js"];
const buildHint = "\nIf a build makes it, run that build first, for example: npm run build";

/** Returns the absolute path of the script; undefined when assets are served without a script. */
export function checkMain(fields: Fields, top: Table): string | undefined {
  const directory = dirname(fields.source.file);
  const suggested = defaultMains.find((main) => isFile(join(directory, main))) ?? defaultMains[0]!;
  if (top.main === undefined && top.assets !== undefined) return undefined;
  if (top.main === undefined) {
    const hint = `${addLineHint(fields, fields.line("main", suggested))}\nOr name it: store dev ${suggested}`;
    fields.missing(["main"], hint);
  }
  const main = fields.string(["main"], top.main, fields.line("main", suggested));
  if (main === undefined) return "";
  const path = resolve(directory, main);
  if (main !== "" && isFile(path)) return path;
  const nearby = nearbyFile(directory, path);
  const why =
    main === ""
      ? "The path of the script is empty"
      : existsSync(path)
        ? `${JSON.stringify(main)} is not a file`
        : `There is no file ${JSON.stringify(main)}`;
  fields.report(["main"], {
    message: nearby === undefined ? `${why}.` : `${why}: did you mean ${JSON.stringify(nearby)}?`,
    hint:
      `The path begins at the folder of ${basename(fields.source.file)}; looked for ${path}` +
      (fields.source.kind === "wrangler" ? buildHint : ""),
  });
  return path;
}

export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Finds a similarly named file in the same folder; the path is relative to the configuration. */
function nearbyFile(directory: string, path: string): string | undefined {
  try {
    const names = readdirSync(dirname(path)).filter((name) => isFile(join(dirname(path), name)));
    const stem = basename(path).replace(/\.[^.]*$/, "");
    const found =
      names.find((name) => /\.[cm]?[jt]sx?$/.test(name) && name.replace(/\.[^.]*$/, "") === stem) ??
      nearest(basename(path), names);
    return found === undefined ? undefined : relative(directory, join(dirname(path), found));
  } catch {
    return undefined;
  }
}

export function checkCompatibilityDate(fields: Fields, top: Table, today: string): string {
  const path = ["compatibility_date"];
  const line = fields.line("compatibility_date", today);
  if (top.compatibility_date === undefined) fields.missing(path, addLineHint(fields, line));
  const date = fields.string(path, toDateText(fields, path, top.compatibility_date), line);
  if (date === undefined) return "";
  try {
    parseCompatibility(date);
  } catch {
    const why = /^\d{4}-\d{2}-\d{2}$/.test(date)
      ? "is not a day of the calendar"
      : "is not a date: it is written year-month-day";
    fields.report(path, { message: `${JSON.stringify(date)} ${why}.`, hint: `Write: ${line}` });
  }
  return date;
}

/** TOML dates need no quotes; such a date is converted to its text. */
function toDateText({ source }: Fields, path: ConfigPath, value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  const { start, end } = source.positions.find(path).value;
  return source.text.slice(start, end);
}

const compatibilityFlags = [...bucketFlags, ...runtimeFlags];

export function checkCompatibilityFlags(fields: Fields, top: Table): string[] {
  const example = fields.line("compatibility_flags", [bucketFlags[0]]);
  const isForeign = fields.source.kind === "wrangler";
  return checkStrings(fields, ["compatibility_flags"], top.compatibility_flags, example, (flag, { path }) => {
    if (isForeign || compatibilityFlags.some((candidate) => candidate === flag)) return;
    const near = nearest(flag, compatibilityFlags);
    fields.report(path, {
      message: `There is no compatibility flag "${flag}"${near === undefined ? "." : `: did you mean ${near}?`}`,
      hint: `The flags are: ${compatibilityFlags.join(", ")}`,
    });
  });
}

/** Returns the strings of a list, and calls `check` for each string. */
export function checkStrings(
  fields: Fields,
  path: ConfigPath,
  value: unknown,
  example: string,
  check: (text: string, element: Element) => void,
): string[] {
  // A single string was probably meant as a list with one element, so the hint shows that list.
  const fittingExample = typeof value === "string" ? fields.line(String(path.at(-1)), [value]) : example;
  const found: string[] = [];
  for (const element of fields.list(path, value, fittingExample)) {
    const text = fields.string(element.path, element.value, example);
    if (text === undefined) continue;
    check(text, element);
    found.push(text);
  }
  return found;
}

/** Creates a check that reports a RangeError of `parse` at the position of the text. */
export function createParseCheck(fields: Fields, parse: (text: string) => unknown, hint?: string) {
  return (text: string, { path }: Element): void => {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      fields.report(path, { message: error.message, hint });
    }
  };
}

export function checkBuckets(fields: Fields, top: Table): BucketBinding[] {
  const example = bucketsExample(fields);
  const found: BucketBinding[] = [];
  for (const { path, value } of fields.list(["store_buckets"], top.store_buckets, example)) {
    const bucket = fields.table(path, value, example);
    if (bucket === undefined) continue;
    const binding = checkBinding(fields, [...path, "binding"], bucket.binding, "PHOTOS");
    const bucketName = checkBucket(fields, [...path, "bucket_name"], bucket.bucket_name);
    found.push({ binding, bucketName });
  }
  return found;
}

function bucketsExample({ source }: Fields): string {
  const key = source.kind === "wrangler" ? "r2_buckets" : "store_buckets";
  return source.format === "toml"
    ? `\n    [[${key}]]\n    binding = "PHOTOS"\n    bucket_name = "photos"`
    : `"${key}": [{ "binding": "PHOTOS", "bucket_name": "photos" }]`;
}

/** Checks the name of a binding in env. */
export function checkBinding(fields: Fields, path: ConfigPath, value: unknown, exampleName: string): string {
  const example = fields.line("binding", exampleName);
  if (value === undefined) fields.missing(path, `Add its name in env: ${example}`);
  const binding = fields.string(path, value, example);
  if (binding === undefined) return "";
  const fault = identifierFault(binding);
  // Wrangler accepts names that are not identifiers: scripts read env["my-bucket"].
  const isAllowed = fields.source.kind === "wrangler" && binding !== "" && binding !== "__proto__";
  if (fault !== undefined && !isAllowed) {
    fields.report(path, {
      message: `The binding ${JSON.stringify(binding)} ${fault}: a binding is ${identifierRule}.`,
      hint: `Write: ${fields.line("binding", asIdentifier(binding))}`,
    });
  }
  return binding;
}

const bucketNameRule =
  "3 to 63 lowercase letters, digits, dots and dashes, a letter or digit at both ends, " +
  "no two dots in a row, no dash beside a dot, and no IP address";

function checkBucket(fields: Fields, path: ConfigPath, value: unknown): string {
  const example = fields.line("bucket_name", "photos");
  if (value === undefined) fields.missing(path, `Add the name of an existing bucket: ${example}`);
  const name = fields.string(path, value, example);
  if (name === undefined) return "";
  if (!isBucketName(name)) {
    const nearby = name.toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
    fields.report(path, {
      message: `${JSON.stringify(name)} cannot be a bucket's name: it is ${bucketNameRule}.`,
      hint: `Write: ${isBucketName(nearby) ? fields.line("bucket_name", nearby) : example}`,
    });
  }
  return name;
}

export function isBucketName(name: string): boolean {
  try {
    checkBucketName(name);
    return true;
  } catch {
    return false;
  }
}
