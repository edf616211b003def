// `store encryption …`: the encryption of a whole store with its own keys.
import type { WalkProgress } from "../../../engine/encryption-operations.ts";
import type { Command, CommandGroup } from "../../framework/command.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { withData } from "../../store/open-store.ts";
import { startProgress } from "../../terminal/progress.ts";
import { statusCommand } from "./status.ts";

const rotateCommand: Command = {
  name: "rotate",
  summary: "Create a new master key and seal all data keys with it",
  details:
    "The bytes of objects stay as they are. Servers can keep running. An interrupted rotation continues when the\n" +
    "command is run again. The replaced key is kept until the next rotation.",
  usage: [""],
  options: {},
  examples: ["store encryption rotate"],
  async run(invocation) {
    const { output } = invocation;
    const report = await withData(invocation, { absent: "refuse" }, async ({ engine, recordAudit }) => {
      const done = await withProgress(output, "rotate", (onProgress) =>
        engine.encryption.rotate({ onProgress }),
      );
      await recordAudit("rotate master key", done.masterKey);
      return done;
    });
    if (output.isJson) return output.json(report);
    if (report.isResumed) output.note("Continued the rotation that was not finished.");
    const keys = formatCount(report.rewrapped, "data key");
    await output.line(`Sealed ${keys} with the new master key ${report.masterKey}.`);
  },
};

const applyCommand: Command = {
  name: "apply",
  summary: "Encrypt existing objects that are not encrypted",
  details:
    "Encrypts every version of every object, in one bucket or in all buckets and namespaces. Versions, etags and\n" +
    "times stay. Servers can keep running. Run it again to encrypt what was written without encryption meanwhile.",
  usage: ["[--bucket NAME]"],
  options: { bucket: { value: "NAME", summary: "only this bucket" } },
  examples: ["store encryption apply", "store encryption apply --bucket photos"],
  async run(invocation) {
    const { output, options } = invocation;
    const bucket = options.text("bucket");
    const subject = bucket === undefined ? {} : { subject: { bucket } };
    const report = await withData(invocation, { absent: "refuse", ...subject }, async (data) => {
      const { engine, recordAudit } = data;
      const done = await withProgress(output, "encrypt", (onProgress) =>
        engine.encryption.apply({ bucket, onProgress }),
      );
      await recordAudit("encrypt objects", bucket ?? "all buckets");
      await data.tidy();
      return done;
    });
    if (output.isJson) return output.json(report);
    const { encrypted, examined, openUploads } = report;
    await output.line(`Encrypted ${formatCount(encrypted, "version")} of ${examined}.`);
    if (openUploads > 0) {
      const uploads = formatCount(openUploads, "open upload");
      output.note(`${uploads} will become objects without encryption. Then run this command again.`);
    }
  },
};

async function withProgress<T>(
  output: Output,
  verb: string,
  run: (onProgress: (progress: WalkProgress) => void) => Promise<T>,
): Promise<T> {
  let label = verb;
  const progress = startProgress(output, { label: () => label, shows: "label" });
  try {
    return await run(({ bucket, examined, changed }) => {
      label = `${verb}: ${bucket}, ${examined} read, ${changed} changed`;
    });
  } finally {
    progress.end();
  }
}

export const encryptionCommands: CommandGroup = {
  name: "encryption",
  summary: "Encrypt existing objects, rotate the master key, and show the state",
  commands: [statusCommand, rotateCommand, applyCommand],
};
