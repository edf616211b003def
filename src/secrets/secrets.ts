// Secrets of scripts: texts that only the script can read, in its `env`. Each secret is a document,
// sealed with the store's secret key and bound to its script and name.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Document, Documents } from "../engine/records.ts";
import { identifierFault, identifierRule } from "../model/names/identifier.ts";
import { isScriptName, scriptNameRule } from "../model/names/script-name.ts";
import { secretKeyFile } from "./master-key.ts";
import { seal, unseal } from "./seal.ts";

export interface Secrets {
  /** Creates or replaces a secret. */
  put(script: string, name: string, value: string): Promise<void>;
  /** Returns the names of the secrets, sorted. */
  list(script: string): Promise<string[]>;
  /** Returns false if the secret does not exist. */
  delete(script: string, name: string): Promise<boolean>;
  /** Returns the values by name, for the script's `env`. */
  values(script: string): Promise<Record<string, string>>;
  /** Returns a text that changes whenever the script's secrets change. */
  revision(script: string): Promise<string>;
}

/**
 * Thrown for an invalid name or value, or a secret that cannot be opened. Never contains a value.
 */
export class SecretError extends Error {
  override readonly name = "SecretError";
}

const kind = "secret";
const maxValueBytes = 64 * 1024;

export function createSecrets(documents: Documents, key: Uint8Array): Secrets {
  async function listDocuments(script: string): Promise<{ name: string; document: Document }[]> {
    checkScript(script);
    const prefix = `${script}/`;
    const all = await documents.list(kind, prefix);
    return all.map((document) => ({ name: document.name.slice(prefix.length), document }));
  }

  return {
    async put(script, name, value) {
      checkScript(script);
      checkName(name);
      checkValue(name, value);
      const sealed = seal(key, [kind, script, name], value);
      const id = `${script}/${name}`;
      for (;;) {
        const revision = (await documents.get(kind, id))?.revision;
        if ((await documents.put(kind, id, sealed, revision)) === "committed") return;
      }
    },
    async list(script) {
      return (await listDocuments(script)).map(({ name }) => name);
    },
    async delete(script, name) {
      checkScript(script);
      return documents.delete(kind, `${script}/${name}`);
    },
    async values(script) {
      const found = await listDocuments(script);
      return Object.fromEntries(
        found.map(({ name, document }) => [name, unsealSecret(key, script, name, document.text)]),
      );
    },
    async revision(script) {
      const hash = createHash("sha256");
      for (const { document } of await listDocuments(script))
        hash.update(`${document.name} ${document.revision}\n`);
      return hash.digest("hex");
    },
  };
}

function unsealSecret(key: Uint8Array, script: string, name: string, sealed: string): string {
  const value = unseal(key, [kind, script, name], sealed);
  if (value !== undefined) return value;
  throw new SecretError(
    `The secret "${name}" of the script "${script}" was sealed with another key than the current one.\n` +
      `  Restore the ${secretKeyFile} of the data directory, or the STORE_SECRET_KEY, that it was set with,\n` +
      `  or set it again with: store secret put ${name}`,
  );
}

function checkScript(script: string): void {
  if (!isScriptName(script)) {
    throw new SecretError(`"${script}" cannot be a script's name: it is ${scriptNameRule}.`);
  }
}

function checkName(name: string): void {
  const fault = identifierFault(name);
  if (fault !== undefined) {
    throw new SecretError(`The secret's name "${name}" ${fault}: it is ${identifierRule}.`);
  }
}

function checkValue(name: string, value: string): void {
  // An empty secret would equal an empty header, so it protects nothing.
  if (value === "") throw new SecretError(`The value of the secret "${name}" is empty.`);
  if (!value.isWellFormed()) {
    throw new SecretError(`The value of the secret "${name}" is not valid Unicode text.`);
  }
  if (Buffer.byteLength(value) > maxValueBytes) {
    throw new SecretError(`The value of the secret "${name}" is longer than ${maxValueBytes / 1024} KiB.`);
  }
}
