// Replaces missing or invalid names in a wrangler file, such as the placeholder "<your-bucket>".
// Wrangler also starts without them.
import { isNamespaceName } from "../../../model/key-value.ts";
import { asScriptName, isScriptName } from "../../../model/names/script-name.ts";
import { namespaceFor } from "../check-kv.ts";
import { isBucketName } from "../rules.ts";
import { isTable } from "../syntax/fields.ts";

/** Adds a note about the file, which is printed at startup. */
export type Note = (text: string) => void;

export function usableName(name: unknown, folder: string, note: Note): unknown {
  if (name !== undefined && typeof name !== "string") return name;
  if (name !== undefined && isScriptName(name)) return name;
  const usable = asScriptName(name ?? "") ?? asScriptName(folder) ?? "script";
  note(
    name === undefined
      ? `it has no name, so the script is called "${usable}".`
      : `the name ${JSON.stringify(name)} cannot be used here, so the script is called "${usable}".`,
  );
  return usable;
}

/** Replaces a missing or malformed date with today's. Other invalid dates are reported later. */
export function usableDate(date: unknown, today: string, note: Note): unknown {
  if (date === undefined) {
    note(`it has no compatibility_date, so today's is used: ${today}.`);
    return today;
  }
  if (typeof date !== "string" || /^\d{4}-\d{2}-\d{2}$/.test(date)) return date;
  note(`the compatibility_date ${JSON.stringify(date)} is not a date, so today's is used: ${today}.`);
  return today;
}

export function usableBuckets(buckets: unknown, note: Note): unknown {
  if (!Array.isArray(buckets)) return buckets;
  const derived: string[] = [];
  const usable = buckets.map((entry: unknown) => {
    if (!isTable(entry)) return entry;
    const { binding, bucket_name, preview_bucket_name } = entry;
    const configuredName = bucket_name ?? preview_bucket_name;
    if (configuredName !== undefined && typeof configuredName !== "string")
      return { binding, bucket_name: configuredName };
    if (configuredName !== undefined && isBucketName(configuredName))
      return { binding, bucket_name: configuredName };
    if (typeof binding !== "string") return { binding, bucket_name: configuredName ?? "bucket" };
    const name = bucketFor(binding);
    derived.push(`${binding} uses the bucket "${name}"`);
    return { binding, bucket_name: name };
  });
  if (derived.length > 0) note(`bucket_name is missing or cannot be used, so ${derived.join(", ")}.`);
  return usable;
}

/** Default bucket name of a binding, derived from the binding's name. */
export function bucketFor(binding: string): string {
  const letters = binding
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 55)
    .replace(/-+$/, "");
  const name = letters.length < 3 ? `${letters}-bucket`.replace(/^-/, "") : letters;
  return isBucketName(name) ? name : "bucket";
}

export function usableNamespaces(namespaces: unknown, note: Note): unknown {
  if (!Array.isArray(namespaces)) return namespaces;
  const derived: string[] = [];
  const usable = namespaces.map((entry: unknown) => {
    if (!isTable(entry)) return entry;
    const { binding, id } = entry;
    if (typeof binding !== "string" || (id !== undefined && typeof id !== "string")) return { binding, id };
    if (id !== undefined && isNamespaceName(id)) return { binding, id };
    const name = namespaceFor(binding);
    derived.push(`${binding} uses the namespace "${name}"`);
    return { binding, id: name };
  });
  if (derived.length > 0)
    note(`id of a KV namespace is missing or cannot be used, so ${derived.join(", ")}.`);
  return usable;
}
