// `store kv list`: prints the keys of a namespace page by page.
import type { ListedKey } from "../../../engine/key-value/key-value.ts";
import type { Command } from "../../framework/command.ts";
import type { Column, Output } from "../../framework/output.ts";
import { withData } from "../../store/open-store.ts";

export const kvListCommand: Command = {
  name: "list",
  summary: "List the keys of a namespace, optionally with a prefix",
  details: "Lists all keys in byte order, with expiration and metadata. Expired keys are not listed.",
  usage: ["<namespace> [--prefix TEXT]"],
  options: { prefix: { value: "TEXT", summary: "only keys with this prefix" } },
  examples: ["store kv list sessions", "store kv list sessions --prefix user: --json"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [namespace = ""] = parameters;
    const prefix = options.text("prefix");
    await withData(invocation, { absent: "refuse", subject: { namespace } }, async ({ engine }) => {
      let count = 0;
      let cursor: string | undefined;
      do {
        const page = await engine.kv.list(namespace, { prefix, cursor });
        if (output.isJson) await printJson(output, page.keys, count);
        else await printRows(output, page.keys, count);
        count += page.keys.length;
        cursor = page.cursor;
      } while (cursor !== undefined);
      if (output.isJson) await output.write(count === 0 ? "[]\n" : "\n]\n");
      else if (count === 0) output.note("There are no keys.");
    });
  },
};

const columns: readonly Column[] = [
  { name: "EXPIRES", width: "2026-11-01 10:00:00".length },
  { name: "KEY" },
  { name: "METADATA" },
];

async function printRows(output: Output, keys: readonly ListedKey[], before: number): Promise<void> {
  const rows = keys.map(({ name, expiration, metadata }) => [
    expiration === undefined ? "-" : output.time(expiration * 1000),
    name,
    metadata ?? "-",
  ]);
  await (before === 0 ? output.table(columns, rows) : output.moreRows(columns, rows));
}

/** Prints one array with one key on each line. */
async function printJson(output: Output, keys: readonly ListedKey[], before: number): Promise<void> {
  let text = "";
  for (const { name, expiration, metadata } of keys) {
    const shown = {
      name,
      ...(expiration === undefined ? {} : { expiration }),
      ...(metadata === undefined ? {} : { metadata: JSON.parse(metadata) as unknown }),
    };
    text += `${before === 0 && text === "" ? "[\n" : ",\n"}${JSON.stringify(shown)}`;
  }
  if (text !== "") await output.write(text);
}
