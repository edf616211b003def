// The key of encrypted backups: from a file, or a passphrase from the environment, the terminal or
// stdin. It is never an argument, because other users can see those.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { BackupKey, KeyOptions, ReadPassphrase } from "../../../repository/header.ts";
import { parseSecretKey } from "../../../secrets/seal.ts";
import type { Invocation, Option } from "../../framework/command.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileInput } from "../../terminal/input.ts";
import { askHiddenLines } from "../../terminal/prompt.ts";
import { readText } from "../../terminal/read-text.ts";

export const keyFileOption: Readonly<Record<string, Option>> = {
  "key-file": { value: "FILE", summary: "file with the key of encrypted backups: 64 hex digits" },
};

const minPassphraseLength = 12;

/** `wants`: whether the user asked for encryption without naming a key file. */
export async function readBackupKey(
  invocation: Invocation,
  wants: "passphrase" | "none",
): Promise<KeyOptions> {
  const file = invocation.options.text("key-file");
  if (file !== undefined) return { key: await readKeyFile(resolve(invocation.directory, file)) };
  const read = passphraseReader(invocation);
  const isGiven = wants === "passphrase" || Boolean(invocation.environment.STORE_BACKUP_PASSPHRASE);
  if (isGiven) return { key: { kind: "passphrase", read } };
  return process.stdin.isTTY ? { askPassphrase: read } : {};
}

async function readKeyFile(path: string): Promise<BackupKey> {
  const input = await fileInput(path);
  try {
    const isPrivate = process.platform === "win32" || (statSync(path).mode & 0o077) === 0;
    if (!isPrivate) {
      throw new CommandError(`Other users can access the key file ${path}.`, {
        hint: `Make it private: chmod 600 ${path}`,
      });
    }
    const bytes = parseSecretKey(await readText(input.chunks, "The key file"));
    if (bytes !== undefined) return { kind: "key", bytes };
    throw new CommandError(`The file ${path} does not contain a key: it must be 64 hex digits.`, {
      hint: `Create a new one: (umask 077; openssl rand -hex 32 > ${path})`,
    });
  } finally {
    input.close();
  }
}

function passphraseReader({ environment, output }: Invocation): ReadPassphrase {
  // Stdin and the terminal can be read only once.
  let known = environment.STORE_BACKUP_PASSPHRASE || undefined;
  return async (use) => {
    known ??= await readPassphrase();
    const passphrase = known;
    if (use === "create" && passphrase.length < minPassphraseLength) {
      throw new CommandError(
        `The passphrase is too short: it needs at least ${minPassphraseLength} characters.`,
      );
    }
    return passphrase;

    async function readPassphrase(): Promise<string> {
      if (!process.stdin.isTTY) {
        const text = (await readText(process.stdin, "The passphrase")).replace(/\r?\n$/, "");
        if (text !== "") return text;
        throw new CommandError("The passphrase is missing.", {
          hint: "Set STORE_BACKUP_PASSPHRASE, write it to stdin, or use --key-file FILE.",
        });
      }
      const questions = ["Passphrase of the backups (not shown): ", "Repeat the passphrase: "];
      const lines = await askHiddenLines(process.stdin, output, questions.slice(0, use === "create" ? 2 : 1));
      if (lines.every((line) => line === lines[0])) return lines[0]!;
      throw new CommandError("The passphrases differ. Nothing was changed.");
    }
  };
}
