// `store object versions`: prints all versions and delete markers below a prefix.
import type { ListedVersion } from "../../../engine/records.ts";
import { limits } from "../../../model/limits.ts";
import type { VersionPosition } from "../../../model/listing.ts";
import { isDeleteMarker } from "../../../model/version.ts";
import type { Command } from "../../framework/command.ts";
import type { Column, Output } from "../../framework/output.ts";
import { prefixAddress } from "../../store/object-address.ts";
import { objectJson } from "../../store/object-output.ts";
import { withStore } from "../../store/with-store.ts";
import { createJsonArray } from "./json-array.ts";
import { parseLimit } from "./list.ts";

export const versionsCommand: Command = {
  name: "versions",
  summary: "List all versions of the objects of a bucket or below a prefix",
  details:
    "Lists versions and delete markers in key order, the newest version of each key first. The state is `current`,\n" +
    "`deleted` for a delete marker that hides the object now, `marker` for an older one, and - for other versions.",
  usage: ["<bucket>[/prefix] [--limit N]"],
  options: { limit: { value: "N", summary: "maximum number of lines" } },
  examples: ["store object versions photos", "store object versions photos/cat.jpg --json"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const { bucket, prefix } = prefixAddress(parameters[0]!);
    let left = parseLimit(options.text("limit"));
    await withStore(invocation, { absent: "refuse", subject: { bucket } }, async ({ engine }) => {
      const printer = output.isJson ? jsonPrinter(output) : linePrinter(output);
      let after: VersionPosition | undefined;
      do {
        const limit = Math.min(left, limits.listEntries);
        const page = await engine.listVersions(bucket, { prefix, after, limit });
        await printer.print(page.versions);
        left -= page.versions.length;
        after = page.next;
      } while (after !== undefined && left > 0);
      await printer.end();
    });
  },
};

interface Printer {
  print(versions: readonly ListedVersion[]): Promise<void>;
  end(): Promise<void>;
}

const columns: readonly Column[] = [
  { name: "SIZE", align: "right", width: "1023.9 MiB".length },
  { name: "UPLOADED", width: "2026-11-01 10:00:00".length },
  { name: "VERSION", width: 32 },
  { name: "STATE", width: "current".length },
  { name: "KEY" },
];

function linePrinter(output: Output): Printer {
  let isFirst = true;
  return {
    async print(versions) {
      const rows = versions.map((listed) => toRow(output, listed));
      if (isFirst) await output.table(columns, rows);
      else await output.moreRows(columns, rows);
      isFirst &&= rows.length === 0;
    },
    async end() {
      if (isFirst) output.note("There are no versions.");
    },
  };
}

function toRow(output: Output, listed: ListedVersion): string[] {
  const { version } = listed;
  const size = isDeleteMarker(version) ? "-" : output.bytes(version.size);
  return [size, output.time(version.uploaded), version.version, stateText(listed), version.key];
}

function stateText({ version, isCurrent }: ListedVersion): string {
  if (isDeleteMarker(version)) return isCurrent ? "deleted" : "marker";
  return isCurrent ? "current" : "-";
}

function jsonPrinter(output: Output): Printer {
  const array = createJsonArray(output);
  return { print: (versions) => array.print(versions.map(toJson)), end: array.end };
}

function toJson({ version, isCurrent, until }: ListedVersion) {
  const state = {
    isCurrent,
    until: until === Number.POSITIVE_INFINITY ? null : new Date(until).toISOString(),
  };
  if (!isDeleteMarker(version)) return { ...objectJson(version), isDeleteMarker: false, ...state };
  const { key, version: id, uploaded } = version;
  return { key, version: id, uploaded: new Date(uploaded).toISOString(), isDeleteMarker: true, ...state };
}
