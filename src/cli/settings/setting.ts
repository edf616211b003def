// A setting of a bucket that `get`, `set` and `delete` work on, as a whole document.
import type { AuditAction } from "../../audit/audit-log.ts";
import type { Bucket } from "../../model/bucket.ts";
import type { Invocation } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { pathArgument } from "../framework/path-argument.ts";
import type { OpenStore } from "../store/object-store.ts";
import { type Data, withData } from "../store/open-store.ts";
import { requireBucket } from "../store/require-bucket.ts";
import { withStore } from "../store/with-store.ts";
import { fileInput, standardInput } from "../terminal/input.ts";
import { readText } from "../terminal/read-text.ts";

export interface BucketSetting<Store extends OpenStore = OpenStore> {
  /** Name in messages, such as "CORS configuration". */
  readonly title: string;
  readonly action: AuditAction;
  /** Returns the document that `set` accepts; undefined if the bucket has no such setting. */
  show(bucket: Bucket, store: Store): unknown;
  /** Checks a document before anything is opened. Returns the function that applies it. */
  parse(document: string, bucket: string): ApplySetting<Store>;
  remove(store: Store, bucket: Bucket): Promise<unknown>;
}

/** A setting that only the files of a store have: S3 has no request for it. */
export interface FilesSetting extends BucketSetting<Data> {
  readonly needsFiles: true;
}

export type AnySetting = BucketSetting | FilesSetting;

/** May return a sentence about the new state. */
export type ApplySetting<Store> = (store: Store, bucket: Bucket) => Promise<string | undefined>;

/** The verbs that every setting has. */
export const settingVerbs = ["get", "set", "delete"] as const;
export type SettingVerb = (typeof settingVerbs)[number];

/** Usage forms of the verbs. */
export const settingUsage = ["get <bucket>", "set <bucket> <file>", "delete <bucket>"] as const;

/**
 * Returns the verb if the parameters are a verb and a bucket. Older forms start with the bucket,
 * which may be named like a verb: `words` may follow it there.
 */
export function findSettingVerb(
  parameters: readonly string[],
  words: readonly string[] = [],
): SettingVerb | undefined {
  const [first, second, third] = parameters;
  const verb = settingVerbs.find((name) => name === first);
  if (verb === undefined || second === undefined) return undefined;
  return words.includes(second) && third === undefined ? undefined : verb;
}

/** Throws for a third word: only the verbs of a document take one. */
export function checkWordCount({ command, parameters }: Invocation): void {
  const [bucket, word, extra] = parameters;
  if (extra === undefined) return;
  throw usageError(`store ${command} ${bucket} ${word} does not expect "${extra}".`, [
    `To set a document: store ${command} set <bucket> <file>`,
  ]);
}

export async function runSetting(
  invocation: Invocation,
  setting: AnySetting,
  verb: SettingVerb,
): Promise<void> {
  const { command, parameters } = invocation;
  const [, bucket, file, ...rest] = parameters;
  if (bucket === undefined) throw usageError(`store ${command} ${verb} needs a bucket.`);
  if (verb === "set" && file === undefined) {
    throw usageError(`store ${command} set needs a file, or - for standard input.`, [
      `Write the present setting to a file: store ${command} get ${bucket} > setting.json`,
    ]);
  }
  const extra = verb === "set" ? rest[0] : file;
  if (extra !== undefined) throw usageError(`store ${command} ${verb} does not expect "${extra}".`);
  if (verb === "get") return show(invocation, setting, bucket);
  if (verb === "delete") return remove(invocation, setting, bucket);
  return change(invocation, setting, bucket, file!);
}

async function show(invocation: Invocation, setting: AnySetting, bucket: string): Promise<void> {
  const { output, command } = invocation;
  const document = await withSetting(invocation, setting, bucket, async (store, opened) =>
    opened.show(await requireBucket(store.engine, bucket), store),
  );
  if (document !== undefined) await output.line(JSON.stringify(document, undefined, output.isJson ? 0 : 2));
  else if (output.isJson) await output.json(null);
  else {
    output.note(`The bucket ${bucket} has no ${setting.title}. Set one: store ${command} set ${bucket} FILE`);
  }
}

async function change(
  invocation: Invocation,
  setting: AnySetting,
  bucket: string,
  file: string,
): Promise<void> {
  const { output } = invocation;
  const document = await readDocument(invocation, file);
  // Refused before anything is opened.
  setting.parse(document, bucket);
  const { before, after, remark } = await withSetting(invocation, setting, bucket, async (store, opened) => {
    const found = await requireBucket(store.engine, bucket);
    const remark = await opened.parse(document, bucket)(store, found);
    await store.recordAudit(opened.action, bucket);
    const changed = await requireBucket(store.engine, bucket);
    return { before: await opened.show(found, store), after: await opened.show(changed, store), remark };
  });
  if (output.isJson) return output.json({ bucket, before: before ?? null, after: after ?? null });
  const did =
    before === undefined
      ? "Set"
      : JSON.stringify(before) === JSON.stringify(after)
        ? "Unchanged:"
        : "Replaced";
  await output.line(
    `${did} the ${setting.title} of bucket ${output.name(bucket)}.${remark === undefined ? "" : ` ${remark}`}`,
  );
  if (did === "Replaced") output.note(`It was: ${JSON.stringify(before)}`);
}

async function remove(invocation: Invocation, setting: AnySetting, bucket: string): Promise<void> {
  const { output } = invocation;
  const before = await withSetting(invocation, setting, bucket, async (store, opened) => {
    const found = await requireBucket(store.engine, bucket);
    const earlier = await opened.show(found, store);
    await opened.remove(store, found);
    await store.recordAudit(opened.action, bucket);
    return earlier;
  });
  if (output.isJson) return output.json({ bucket, before: before ?? null, after: null });
  if (before === undefined) return output.line(`The bucket ${output.name(bucket)} has no ${setting.title}.`);
  await output.line(`Deleted the ${setting.title} of bucket ${output.name(bucket)}.`);
  output.note(`It was: ${JSON.stringify(before)}`);
}

function withSetting<T>(
  invocation: Invocation,
  setting: AnySetting,
  bucket: string,
  work: <Store extends OpenStore>(store: Store, setting: BucketSetting<Store>) => Promise<T>,
): Promise<T> {
  const options = { absent: "refuse", subject: { bucket } } as const;
  if ("needsFiles" in setting) return withData(invocation, options, (data) => work(data, setting));
  return withStore(invocation, options, (store) => work(store, setting));
}

/** Reads the file, or standard input for "-". */
async function readDocument(invocation: Invocation, file: string): Promise<string> {
  const path =
    file === "-"
      ? file
      : pathArgument(invocation, {
          label: `store ${invocation.command} set`,
          text: file,
          expected: "a file or -",
        });
  const input = path === "-" ? standardInput() : await fileInput(path);
  try {
    const document = (await readText(input.chunks, file === "-" ? "The document" : `"${file}"`)).trim();
    if (document === "") {
      throw usageError("The document is empty; nothing was changed.", [
        `To remove the setting: store ${invocation.command} delete <bucket>`,
      ]);
    }
    return document;
  } finally {
    input.close();
  }
}
