// `store ls`: lists buckets, or the objects and folders below a prefix.
import { compareKeys } from "../../../model/key.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import type { Column } from "../../framework/output.ts";
import { compilePattern, type NameFilter, splitPattern } from "../../store/glob.ts";
import { parseLocator } from "../../store/locator.ts";
import { objectJson } from "../../store/object-output.ts";
import { type ObjectSide, withStores } from "../../store/stores.ts";
import { withStore } from "../../store/with-store.ts";
import { createJsonArray } from "../object/json-array.ts";

export const lsCommand: Command = {
  name: "ls",
  summary: "List buckets, or the objects and folders below a prefix",
  details:
    "Without an address, lists the buckets. Keys are grouped at slashes, like folders; --recursive lists them all.\n" +
    "A pattern such as 'photos/2026/*.jpg' lists the objects that match.",
  usage: ["[bucket]", "<bucket>/<prefix> [--recursive]"],
  options: { recursive: { summary: "list all objects, without grouping", short: "r" } },
  examples: ["store ls", "store ls photos/2026/", "store ls 'photos/2026/*.jpg' --json"],
  async run(invocation) {
    const [text] = invocation.parameters;
    if (text === undefined)
      return listBuckets(invocation, (work) => withStore(invocation, { absent: "refuse" }, work));
    const locator = parseLocator(text.includes(":") || text.startsWith(".") ? text : `s3://${text}`);
    if (locator.kind !== "object")
      throw usageError(`"${text}" is not a bucket or a prefix.`, "For example: photos/2026/");
    await withStores(invocation, async (stores) => {
      const address = text.includes(":") ? text : `s3://${text}`;
      const side = await stores.resolve(address, "existing");
      if (side.kind !== "object") throw usageError(`"${text}" is not a bucket or a prefix.`);
      if (side.bucket === "") return listBuckets(invocation, (work) => work(side.store));
      await listObjects(invocation, side).catch((error: unknown) => {
        throw toCommandError(error, { bucket: side.bucket });
      });
    });
  },
};

type Run = (work: (store: ObjectSide["store"]) => Promise<void>) => Promise<void>;

async function listBuckets({ output }: Invocation, run: Run): Promise<void> {
  await run(async ({ engine }) => {
    const buckets = await engine.listBuckets();
    if (output.isJson) {
      return output.json(
        buckets.map(({ name, created }) => ({ name, created: new Date(created).toISOString() })),
      );
    }
    if (buckets.length === 0) output.note("There are no buckets yet. Create one: store bucket create <name>");
    await output.table(
      [{ name: "CREATED" }, { name: "BUCKET" }],
      buckets.map(({ name, created }) => [output.time(created), name]),
    );
  });
}

const columns: readonly Column[] = [
  { name: "SIZE", align: "right", width: "1023.9 MiB".length },
  { name: "UPLOADED", width: "2026-11-01 10:00:00".length },
  { name: "NAME" },
];

interface Entry {
  readonly key: string;
  readonly record?: ObjectRecord;
}

/** Names are shown without the prefix that the user has typed. */
async function listObjects(invocation: Invocation, side: ObjectSide): Promise<void> {
  const { output, options } = invocation;
  const array = output.isJson ? createJsonArray(output) : undefined;
  let isFirst = true;
  for await (const { entries, prefix } of pages(side, options.flag("recursive") ? "all" : "level")) {
    if (array !== undefined) {
      await array.print(
        entries.map(({ key, record }) => (record === undefined ? { prefix: key } : objectJson(record))),
      );
      continue;
    }
    const rows = entries.map(({ key, record }) =>
      record === undefined
        ? ["-", "-", key.slice(prefix.length)]
        : [output.bytes(record.size), output.time(record.uploaded), key.slice(prefix.length)],
    );
    await (isFirst ? output.table(columns, rows) : output.moreRows(columns, rows));
    isFirst &&= rows.length === 0;
  }
  await array?.end();
  if (isFirst && array === undefined) output.note("There are no objects.");
}

interface Page {
  readonly entries: readonly Entry[];
  readonly prefix: string;
}

async function* pages(side: ObjectSide, depth: "level" | "all"): AsyncGenerator<Page> {
  const { engine } = side.store;
  const { prefix: literal, pattern } = splitPattern(side.key);
  if ((await engine.bucket(side.bucket, [])) === undefined) {
    throw new CommandError(`There is no bucket "${side.bucket}".`, { hint: "List buckets: store ls" });
  }
  const matches: NameFilter = pattern === undefined ? () => true : compilePattern(pattern);
  const isGrouped = depth === "level" && pattern === undefined;
  // Names are relative to the last folder of the prefix: "2026/c" lists names that start with "c".
  const folder = literal.slice(0, literal.lastIndexOf("/") + 1);
  let cursor: string | undefined;
  do {
    const page = await engine.list(side.bucket, {
      ...{ prefix: literal, cursor, withMetadata: true },
      ...(isGrouped ? { delimiter: "/" } : {}),
    });
    const entries: Entry[] = [
      ...page.objects.map((record) => ({ key: record.key, record })),
      ...page.prefixes.map((key) => ({ key })),
    ];
    const shown = entries.filter(({ key }) => matches(key.slice(literal.length)));
    yield { entries: shown.sort((a, b) => compareKeys(a.key, b.key)), prefix: folder };
    cursor = page.cursor;
  } while (cursor !== undefined);
}
