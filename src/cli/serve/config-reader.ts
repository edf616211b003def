// Reads configurations of scripts for a server, at startup and on every reload.
import { readConfig, type ScriptConfig } from "../../script/config/config.ts";
import type { Mode } from "../../script/context.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import type { Invocation } from "../framework/command.ts";
import type { Data } from "../store/open-store.ts";
import { readOptions } from "../store/script-config.ts";
import { checkBuckets, checkNamespaces, checkSecretNames, type PromptMode } from "./script-checks.ts";

/** Reads a configuration and checks that everything it names exists. */
export function createConfigReader(invocation: Invocation, data: Data, mode: Mode) {
  const secrets = createSecrets(data.documents, data.secretKey());
  return async (file: string, promptMode: PromptMode): Promise<ScriptConfig> => {
    const config = readConfig(file, readOptions(invocation, mode));
    noteOnce(invocation, config.notes);
    checkSecretNames(config, await secrets.list(config.name));
    await checkBuckets(invocation, data, config, { promptMode, mode });
    await checkNamespaces(invocation, data, config, { promptMode, mode });
    return config;
  };
}

const printedNotes = new WeakMap<Invocation, Set<string>>();

/** Prints each note once, although a configuration is read several times. */
function noteOnce(invocation: Invocation, notes: readonly string[]): void {
  const printed = printedNotes.get(invocation) ?? new Set();
  printedNotes.set(invocation, printed);
  for (const note of notes) {
    if (printed.has(note)) continue;
    printed.add(note);
    invocation.output.note(note);
  }
}
