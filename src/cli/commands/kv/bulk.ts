// `store kv bulk put`: puts many keys from a JSON file, which is validated before the first put.
import type { KeyValues } from "../../../engine/key-value/key-value.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { formatCount } from "../../framework/output.ts";
import { withData } from "../../store/open-store.ts";
import { fileInput, standardInput } from "../../terminal/input.ts";
import { type BulkEntry, parseBulk } from "../../transfer/kv-bulk-file.ts";

export const kvBulkCommand: Command = {
  name: "bulk",
  summary: "Put many keys from a JSON file",
  details:
    'The file contains an array of objects with "key" and "value", and optionally "expiration" (Unix time in seconds),\n' +
    '"expiration_ttl" (seconds), "metadata" (any JSON) and "base64": true for a value in base64.\n' +
    "Each key is put separately: if a put fails, the earlier ones stay.",
  usage: ["put <namespace> <file>", "put <namespace> -"],
  options: {},
  examples: ["store kv bulk put sessions sessions.json"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [verb = "", namespace = "", file = ""] = parameters;
    if (verb !== "put") throw usageError(`There is no "store kv bulk ${verb}".`, "Use: store kv bulk put");
    const input = file === "-" ? standardInput() : await fileInput(file);
    try {
      const entries = await parseBulk(input, file === "-" ? "standard input" : file);
      await withData(invocation, { absent: "refuse", subject: { namespace } }, async (data) => {
        if ((await data.engine.kv.namespace(namespace)) === undefined) throw new StoreError("NoSuchBucket");
        await putAll(data.engine.kv, namespace, entries);
        await data.tidy();
      });
      if (output.isJson) await output.json({ namespace, keys: entries.length });
      else await output.line(`Put ${formatCount(entries.length, "key")} into ${output.name(namespace)}.`);
    } finally {
      input.close();
    }
  },
};

const concurrency = 32;

async function putAll(kv: KeyValues, namespace: string, entries: readonly BulkEntry[]): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < entries.length && !failed) {
      const { key, value, options } = entries[next++]!;
      await kv.put(namespace, key, value, options).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const results = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const rejected = results.find((one) => one.status === "rejected");
  if (rejected !== undefined) throw rejected.reason;
}
