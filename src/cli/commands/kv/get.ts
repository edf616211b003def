// `store kv get`: writes the value of a key to a file or stdout.
import type { KeyValueEntry } from "../../../engine/key-value/key-value.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Command } from "../../framework/command.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { refuseUrl } from "../../framework/path-argument.ts";
import { withData } from "../../store/open-store.ts";
import { printBytes } from "../../terminal/print-bytes.ts";
import { checkTarget, writeFileWhole } from "../../transfer/download.ts";

export const kvGetCommand: Command = {
  name: "get",
  summary: "Get the value of a key, to a file or stdout",
  details:
    "With --json the value, metadata and expiration are printed in the format that store kv bulk put reads;\n" +
    'a value that is not UTF-8 text is in base64, with "base64": true.',
  usage: ["<namespace> <key> [file]", "<namespace> <key> -"],
  options: {},
  examples: [
    "store kv get sessions user:1",
    "store kv get pages index.html index.html",
    "store kv get sessions user:1 --json",
  ],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [namespace = "", key = "", file] = parameters;
    const isStdout = file === undefined || file === "-";
    if (!isStdout) refuseUrl({ label: "store kv get", text: file, expected: "a file or -" });
    const target = isStdout ? undefined : await checkTarget(file);
    await withData(invocation, { absent: "refuse", subject: { namespace, key } }, async ({ engine }) => {
      const entry = await engine.kv.get(namespace, key);
      if (entry === undefined) throw new StoreError("NoSuchKey");
      const { bytes, record } = entry;
      if (target !== undefined) {
        await runInterruptible((signal) => writeFileWhole(target, bytes.chunks(), signal));
        if (output.isJson)
          return output.json({ key, ...details(entry), size: record.size, file: target.path });
        return output.line(
          `Downloaded ${output.name(key)} to ${output.name(file!)}: ${output.size(record.size)}`,
        );
      }
      if (output.isJson) return output.json({ key, ...(await jsonValue(entry)), ...details(entry) });
      const onTerminal = file === undefined ? "text only" : "anything";
      await printBytes(output, { what: "value", bytes, onTerminal });
    });
  },
};

async function jsonValue({ bytes }: KeyValueEntry): Promise<{ value: string; base64?: true }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes.chunks()) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  try {
    return { value: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole) };
  } catch {
    return { value: whole.toString("base64"), base64: true };
  }
}

function details({ expiration, metadata }: KeyValueEntry) {
  return {
    ...(expiration === undefined ? {} : { expiration }),
    ...(metadata === undefined ? {} : { metadata: JSON.parse(metadata) as unknown }),
  };
}
