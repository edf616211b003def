// Searches what a store has written, on the disk or in its log, for what must not be there.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A secret in every form it might be written in. */
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

/** Every file under the directory that holds one of the secrets. */
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
