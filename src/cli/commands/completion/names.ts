// Lists names for completions: buckets, keys, key-value namespaces, scripts, profiles.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isFields } from "../../../model/shape.ts";
import { shownCatalog } from "../../catalog.ts";
import { shells } from "../../completions.ts";
import type { Invocation } from "../../framework/command.ts";
import { knownScripts } from "../../serve/record/known-scripts.ts";
import { type Data, withData } from "../../store/open-store.ts";

export type NameKind =
  | "bucket"
  | "object"
  | "namespace"
  | "entry"
  | "script"
  | "profile"
  | "shell"
  | "command";

export interface NameRequest {
  readonly kind: NameKind;
  /** The word typed so far. */
  readonly word: string;
  /** The positional words before it. */
  readonly positional: readonly string[];
}

/** A shell shows no more at once. */
const maxNames = 100;

export async function listNames(invocation: Invocation, request: NameRequest): Promise<string[]> {
  const { kind, word } = request;
  const names = await findNames(invocation, request);
  const isSafe = (name: string) => name.startsWith(word) && !/[\p{Cc}\u2028\u2029]/u.test(name);
  // A folder must stay complete while its keys are typed, so only other kinds are cut.
  return names.filter(isSafe).slice(0, kind === "object" ? 2 * maxNames : 10 * maxNames);
}

async function findNames(invocation: Invocation, request: NameRequest): Promise<readonly string[]> {
  const { kind, word, positional } = request;
  if (kind === "shell") return shells;
  if (kind === "command") return shownCatalog.map(({ name }) => name);
  if (kind === "profile") return profileNames(invocation);
  return withData(invocation, { absent: "refuse" }, async ({ engine, documents }) => {
    if (kind === "script") {
      return [...new Set((await knownScripts(invocation, documents)).map(({ name }) => name))];
    }
    if (kind === "bucket") return (await engine.listBuckets()).map(({ name }) => name);
    if (kind === "namespace") return (await engine.kv.listNamespaces()).map(({ name }) => name);
    return kind === "object" ? objectNames(engine, word) : entryNames(engine, positional[0] ?? "", word);
  });
}

/** Buckets with a slash, then keys folder by folder. */
async function objectNames(engine: Data["engine"], word: string): Promise<string[]> {
  const slash = word.indexOf("/");
  if (slash === -1) return (await engine.listBuckets()).map(({ name }) => `${name}/`);
  const [bucket, prefix] = [word.slice(0, slash), word.slice(slash + 1)];
  const { objects, prefixes } = await engine.list(bucket, { prefix, delimiter: "/", limit: maxNames });
  return [...prefixes, ...objects.map(({ key }) => key)].map((key) => `${bucket}/${key}`);
}

async function entryNames(engine: Data["engine"], namespace: string, prefix: string): Promise<string[]> {
  const { keys } = await engine.kv.list(namespace, { prefix, limit: maxNames });
  return keys.map(({ name }) => name);
}

async function profileNames({ environment }: Invocation): Promise<string[]> {
  const base = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), ".config");
  const file = join(base, "store", "profiles.json");
  if (!existsSync(file)) return [];
  const parsed: unknown = JSON.parse(await readFile(file, "utf8"));
  return isFields(parsed) && isFields(parsed.profiles) ? Object.keys(parsed.profiles) : [];
}
