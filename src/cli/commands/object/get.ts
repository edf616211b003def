// `store object get`: an object, of any size, into a file or to stdout.
import { StoreObject } from "../../../binding/object.ts";
import type { GetOutcome } from "../../../engine/engine.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { escapeControls, type Output } from "../../framework/output.ts";
import { refuseUrl } from "../../framework/path-argument.ts";
import { objectAddress } from "../../store/object-address.ts";
import { withData } from "../../store/open-store.ts";
import { printBytes } from "../../terminal/print-bytes.ts";
import { startProgress } from "../../terminal/progress.ts";
import { checkTarget, writeFileWhole } from "../../transfer/download.ts";

type FoundObject = GetOutcome & { readonly outcome: "found" };

export const getCommand: Command = {
  name: "get",
  summary: "Get an object into a file, or to stdout",
  details: "The file appears whole or not at all; one that was there is replaced at the end.",
  usage: ["<bucket>/<key> [file]", "<bucket>/<key> -"],
  options: {},
  examples: [
    "store object get photos/cat.jpg cat.jpg",
    "store object get backups/src.tgz | tar xz",
    "store object get photos/cat.jpg cat.jpg --json",
  ],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [address = "", file] = parameters;
    const from = objectAddress(address);
    const isStdout = file === undefined || file === "-";
    if (isStdout && output.isJson) {
      throw usageError("--json needs a file, because the object itself goes to stdout.", [
        `Write: store object get ${address} FILE --json`,
        `For what is known of it: store object head ${address} --json`,
      ]);
    }
    if (!isStdout) refuseUrl({ label: "store object get", text: file, expected: "a file or -" });
    const target = isStdout ? undefined : await checkTarget(file);
    await withData(invocation, { absent: "refuse", subject: from }, async ({ engine }) => {
      const result = await engine.get(from.bucket, from.key);
      if (result.outcome !== "found") throw new StoreError("NoSuchKey");
      if (target === undefined) {
        const onTerminal = file === undefined ? "text only" : "anything";
        return printBytes(output, { what: "object", bytes: result.bytes, onTerminal });
      }
      await runInterruptible((signal) =>
        writeFileWhole(target, withProgress(result, address, output), signal),
      );
      if (output.isJson) return output.json({ ...new StoreObject(result.record), file: target.path });
      await output.line(
        `Got ${output.name(address)} into ${output.name(file!)}: ${output.size(result.record.size)}`,
      );
    });
  },
};

/** The bytes, with the progress of their coming on the terminal. */
async function* withProgress(
  { bytes }: FoundObject,
  address: string,
  output: Output,
): AsyncGenerator<Uint8Array> {
  const progress = startProgress(output, { label: escapeControls(address), total: bytes.length });
  try {
    for await (const chunk of bytes.chunks()) {
      progress.advance(chunk.length);
      yield chunk;
    }
  } finally {
    progress.end();
  }
}
