// `store object get`: writes an object of any size to a file or stdout.
import type { GetOutcome } from "../../../engine/engine.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { escapeControls, type Output } from "../../framework/output.ts";
import { refuseUrl } from "../../framework/path-argument.ts";
import { objectAddress } from "../../store/object-address.ts";
import { objectJson } from "../../store/object-output.ts";
import { missingObjectError, parseVersionOptions, versionReadOptions } from "../../store/version-options.ts";
import { withStore } from "../../store/with-store.ts";
import { printBytes } from "../../terminal/print-bytes.ts";
import { startProgress } from "../../terminal/progress.ts";
import { checkTarget, writeFileWhole } from "../../transfer/download.ts";

export const getCommand: Command = {
  name: "get",
  summary: "Download an object to a file or stdout",
  details: "The file appears complete or not at all; an existing file is replaced only at the end.",
  usage: ["<bucket>/<key> [file]", "<bucket>/<key> -"],
  options: versionReadOptions,
  examples: [
    "store object get photos/cat.jpg cat.jpg",
    "store object get photos/cat.jpg yesterday.jpg --at 24h",
    "store object get backups/src.tgz | tar xz",
    "store object get photos/cat.jpg cat.jpg --json",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [address = "", file] = parameters;
    const versionOptions = parseVersionOptions(options);
    const from = objectAddress(address);
    const isStdout = file === undefined || file === "-";
    if (isStdout && output.isJson) {
      throw usageError("--json needs a file, because the object itself goes to stdout.", [
        `Write: store object get ${address} FILE --json`,
        `For its metadata only: store object head ${address} --json`,
      ]);
    }
    if (!isStdout) refuseUrl({ label: "store object get", text: file, expected: "a file or -" });
    const target = isStdout ? undefined : await checkTarget(file);
    const subject = { ...from, version: versionOptions.version };
    await withStore(invocation, { absent: "refuse", subject }, async ({ engine }) => {
      const result = await engine.get(from.bucket, from.key, versionOptions);
      if (result.outcome === "refused") throw new StoreError("PreconditionFailed");
      if (result.outcome === "missing") throw missingObjectError(from, versionOptions, result.marker);
      if (target === undefined) {
        const onTerminal = file === undefined ? "text only" : "anything";
        return printBytes(output, { what: "object", bytes: result.bytes, onTerminal });
      }
      await runInterruptible((signal) =>
        writeFileWhole(target, withProgress(result, address, output), signal),
      );
      if (output.isJson) return output.json({ ...objectJson(result.record), file: target.path });
      await output.line(
        `Downloaded ${output.name(address)} to ${output.name(file!)}: ${output.size(result.record.size)}`,
      );
    });
  },
};

/** Yields the bytes and shows progress. */
async function* withProgress(
  { bytes }: GetOutcome & { readonly outcome: "found" },
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
