// `store kv …`: key-value namespaces and their keys.
import { StoreError } from "../../../model/errors.ts";
import type { Command, CommandGroup } from "../../framework/command.ts";
import { withData } from "../../store/open-store.ts";
import { kvBulkCommand } from "./bulk.ts";
import { kvGetCommand } from "./get.ts";
import { kvListCommand } from "./list.ts";
import { kvNamespaceCommand } from "./namespace.ts";
import { kvPutCommand } from "./put.ts";

const kvDeleteCommand: Command = {
  name: "delete",
  summary: "Delete a key",
  usage: ["<namespace> <key>"],
  options: {},
  examples: ["store kv delete sessions user:1"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [namespace = "", key = ""] = parameters;
    await withData(invocation, { absent: "refuse", subject: { namespace, key } }, async (data) => {
      // The engine deletes a missing key without an error, but a user should notice a typo.
      const found = await data.engine.kv.get(namespace, key);
      if (found === undefined) throw new StoreError("NoSuchKey");
      await found.bytes.cancel();
      await data.engine.kv.delete(namespace, [key]);
      await data.tidy();
    });
    if (output.isJson) await output.json({ namespace, key, deleted: true });
    else await output.line(`Deleted ${output.name(key)} from ${output.name(namespace)}.`);
  },
};

export const kvCommands: CommandGroup = {
  name: "kv",
  summary: "Key-value namespaces: put, get, list and delete keys",
  commands: [kvNamespaceCommand, kvPutCommand, kvGetCommand, kvListCommand, kvDeleteCommand, kvBulkCommand],
};
