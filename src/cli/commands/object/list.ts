// `store object list`: prints the objects below a prefix, with one page in memory at a time.
import type { Listing } from "../../../engine/engine.ts";
import { compareKeys } from "../../../model/key.ts";
import { limits } from "../../../model/limits.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import type { Column, Output } from "../../framework/output.ts";
import { parsePastTime, pastTimeRule } from "../../framework/time-argument.ts";
import { prefixAddress } from "../../store/object-address.ts";
import { objectJson } from "../../store/object-output.ts";
import type { ObjectStore } from "../../store/object-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { withStore } from "../../store/with-store.ts";
import { createJsonArray } from "./json-array.ts";

export const listCommand: Command = {
  name: "list",
  summary: "List the objects of a bucket or below a prefix",
  details:
    "Lists all objects in key order. With a delimiter, keys with the same text up to it are grouped into one line.",
  usage: ["<bucket>[/prefix] [--delimiter TEXT] [--limit N] [--at TIME]"],
  options: {
    delimiter: { value: "TEXT", summary: "group keys by the text up to this delimiter, such as /" },
    limit: { value: "N", summary: "maximum number of lines" },
    at: { value: "TIME", summary: `the objects that existed at ${pastTimeRule}` },
  },
  examples: [
    "store object list photos",
    "store object list photos/2026/ --delimiter /",
    "store object list photos --limit 10 --json",
    "store object list photos --at 2h",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const { bucket, prefix } = prefixAddress(parameters[0]!);
    const delimiter = options.text("delimiter");
    if (delimiter === "") throw usageError("--delimiter needs at least one character.");
    let left = parseLimit(options.text("limit"));
    const at = options.text("at");
    const time = at === undefined ? undefined : parsePastTime("--at", at);
    await withStore(invocation, { absent: "refuse", subject: { bucket } }, async ({ engine }) => {
      if (time !== undefined) await noteMissingHistory(engine, bucket, output);
      const printer = output.isJson ? jsonPrinter(output) : linePrinter(output);
      let cursor: string | undefined;
      do {
        const limit = Math.min(left, limits.listEntries);
        const page = await engine.list(bucket, {
          prefix,
          delimiter,
          cursor,
          limit,
          time,
          withMetadata: true,
        });
        const entries = toEntries(page);
        await printer.print(entries);
        left -= entries.length;
        cursor = page.cursor;
      } while (cursor !== undefined && left > 0);
      await printer.end();
    });
  },
};

async function noteMissingHistory(engine: ObjectStore, bucket: string, output: Output): Promise<void> {
  const { settings } = await requireBucket(engine, bucket, ["versioning"]);
  if (settings.versioning !== undefined) return;
  output.note(
    `The bucket ${bucket} has no versions: objects that were replaced or deleted since are not listed.`,
  );
}

export function parseLimit(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1) return limit;
  throw usageError(`--limit must be a whole number of at least 1, not "${text}".`);
}

type Entry = { readonly key: string; readonly record?: ObjectRecord };

/** Merges objects and common prefixes in key order. */
function toEntries({ objects, prefixes }: Listing): Entry[] {
  const entries: Entry[] = [
    ...objects.map((record) => ({ key: record.key, record })),
    ...prefixes.map((prefix) => ({ key: prefix })),
  ];
  return prefixes.length === 0 ? entries : entries.sort((a, b) => compareKeys(a.key, b.key));
}

interface Printer {
  print(entries: readonly Entry[]): Promise<void>;
  end(): Promise<void>;
}

const columns: readonly Column[] = [
  { name: "SIZE", align: "right", width: "1023.9 MiB".length },
  { name: "UPLOADED", width: "2026-11-01 10:00:00".length },
  { name: "KEY" },
];

function linePrinter(output: Output): Printer {
  let isFirst = true;
  return {
    async print(entries) {
      const rows = entries.map(({ key, record }) =>
        record === undefined
          ? ["-", "-", key]
          : [output.bytes(record.size), output.time(record.uploaded), key],
      );
      if (isFirst) await output.table(columns, rows);
      else await output.moreRows(columns, rows);
      isFirst &&= rows.length === 0;
    },
    async end() {
      if (isFirst) output.note("There are no objects.");
    },
  };
}

function jsonPrinter(output: Output): Printer {
  const array = createJsonArray(output);
  return {
    print: (entries) =>
      array.print(
        entries.map(({ key, record }) => (record === undefined ? { prefix: key } : objectJson(record))),
      ),
    end: array.end,
  };
}
