// `store migrate`: creates or upgrades the schema of a cluster's records.
import { migrateStore } from "../../maintenance.ts";
import { StoreError } from "../../model/errors.ts";
import { redactUrl } from "../../model/names/location.ts";
import type { Command } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { storeLocation } from "../store/store-location.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Create or upgrade the tables of a cluster in PostgreSQL",
  details:
    "Run this before the first use of a cluster, and before the servers of a new version start. Tables that are up\n" +
    "to date are not changed. Tables of a later version are refused.",
  usage: [""],
  options: {},
  examples: [
    "store migrate",
    "store migrate --records postgres://store@db1,db2/store --blobs file:///mnt/shared/store --json",
  ],
  async run(invocation) {
    const { output } = invocation;
    const location = await storeLocation(invocation);
    if (typeof location === "string") {
      throw new CommandError(
        "A data directory needs no migration: every version upgrades it when opening it.",
        { hint: "For a cluster, use --records URL --blobs URL, or STORE_RECORDS and STORE_BLOBS" },
      );
    }
    const recordsUrl = redactUrl(location.records);
    const { from, to } = await migrateStore(location).catch((error: unknown) => {
      const why = error instanceof StoreError ? error.detail : error instanceof Error ? error.message : error;
      throw new CommandError(`Cannot migrate ${recordsUrl}: ${why}`, { cause: error });
    });
    if (output.isJson) return output.json({ records: recordsUrl, from, to });
    const what =
      from === to
        ? `The tables in ${output.name(recordsUrl)} are up to date: version ${to}.`
        : from === 0
          ? `Created the tables in ${output.name(recordsUrl)}: version ${to}.`
          : `Upgraded the tables in ${output.name(recordsUrl)} from version ${from} to ${to}.`;
    await output.line(what);
  },
};
