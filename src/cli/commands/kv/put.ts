// `store kv put`: sets a key to a value from the command line, a file or stdin.
import type { Source } from "../../../engine/engine.ts";
import type { KeyValuePutOptions } from "../../../engine/key-value/key-value.ts";
import { StoreError } from "../../../model/errors.ts";
import { checkKeyValueKey } from "../../../model/key-value.ts";
import type { Command, Invocation, ParsedOptions } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { withCommandErrors } from "../../framework/failures.ts";
import { withData } from "../../store/open-store.ts";
import { fileInput, type Input, standardInput } from "../../terminal/input.ts";

export const kvPutCommand: Command = {
  name: "put",
  summary: "Set a key to a value, a file or stdin",
  details: "A value on the command line is stored without a newline.",
  usage: ["<namespace> <key> [value]", "<namespace> <key> -", "<namespace> <key> --file FILE"],
  options: {
    file: { value: "FILE", summary: "file that contains the value" },
    ttl: { value: "SECONDS", summary: "lifetime of the key in seconds, at least 60" },
    expiration: { value: "TIME", summary: "expiry time of the key, as Unix time in seconds" },
    metadata: { value: "JSON", summary: "metadata of the key as JSON, at most 1,024 bytes" },
  },
  examples: [
    "store kv put sessions user:1 Ada",
    "store kv put sessions user:1 Ada --ttl 3600",
    "store kv put pages index.html --file index.html",
    "date | store kv put state last-run -",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [namespace = "", key = ""] = parameters;
    const subject = { namespace, key };
    const write = writeOptions(options);
    withCommandErrors(subject, () => checkKeyValueKey(key));
    const value = await openValue(invocation);
    try {
      await withData(invocation, { absent: "refuse", subject }, async (data) => {
        const { kv } = data.engine;
        // Check the namespace before reading stdin: a user may be about to type the value.
        if ((await kv.namespace(namespace)) === undefined) throw new StoreError("NoSuchBucket");
        await kv.put(namespace, key, value.source, write);
      });
    } finally {
      value.close();
    }
    if (output.isJson) await output.json({ namespace, key });
    else await output.line(`Put ${output.name(key)} into ${output.name(namespace)}.`);
  },
};

interface Value {
  readonly source: Source;
  close(): void;
}

async function openValue({ parameters, options }: Invocation): Promise<Value> {
  const [, , value] = parameters;
  const file = options.text("file");
  if ((value === undefined) === (file === undefined)) {
    const why = value === undefined ? "A value is missing." : "A value and --file cannot be combined.";
    throw usageError(why, "Use one of: a value, --file FILE, or - for stdin");
  }
  if (file !== undefined) return inputValue(await fileInput(file));
  return value === "-" ? inputValue(standardInput()) : { source: Buffer.from(value!), close() {} };
}

function inputValue({ chunks, size, close }: Input): Value {
  return { source: { length: size, chunks: () => chunks, cancel: async () => close() }, close };
}

function writeOptions(options: ParsedOptions): KeyValuePutOptions {
  const metadata = options.text("metadata");
  return {
    expirationTtl: parseSeconds(options, "ttl"),
    expiration: parseSeconds(options, "expiration"),
    metadata: metadata === undefined ? undefined : parseJsonText(metadata),
  };
}

function parseSeconds(options: ParsedOptions, name: string): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw usageError(`--${name} needs a whole number of seconds, not "${text}".`);
  return Number(text);
}

function parseJsonText(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value === null ? undefined : JSON.stringify(value);
  } catch {
    throw usageError("--metadata needs JSON.", `For example: --metadata '{"role":"admin"}'`);
  }
}
