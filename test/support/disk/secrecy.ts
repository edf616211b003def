// Searches the files that a store has written for secrets in any encoding.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Returns the secret in every encoding in which it might be written. */
export function writtenForms(secret: Uint8Array): Buffer[] {
  const bytes = Buffer.from(secret);
  const texts = [
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    encodeURIComponent(bytes.toString("base64")),
    JSON.stringify([...bytes]).slice(1, -1),
    [...bytes].join(", "),
  ];
  return [bytes, ...texts.map((text) => Buffer.from(text.replace(/=+$/, "")))];
}

/** Returns every file below the directory that contains one of the secrets. */
export function filesWith(directory: string, secrets: readonly Buffer[]): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const entry = statSync(path);
    if (entry.isDirectory()) return filesWith(path, secrets);
    if (!entry.isFile()) return [];
    const bytes = readFileSync(path);
    return secrets.some((secret) => bytes.includes(secret)) ? [path] : [];
  });
}
