// Notes about keys of a wrangler file that have no effect in Store.
import { isTable, type Table } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";
import type { ConfigSource } from "../syntax/source.ts";
import { isGenerated } from "./generated.ts";
import { ignoredKeys } from "./keys.ts";
import type { Note } from "./names.ts";
import { noteSite } from "./site.ts";

/** Ignored keys that build tools always write. */
const defaultKeys: readonly string[] = ["no_bundle", "python_modules", "upload_source_maps", "legacy_env"];

export function noteIgnoredKeys(top: Table, note: Note): void {
  const isWritten = (key: string) => !isEmpty(top[key]) && !(isGenerated(top) && defaultKeys.includes(key));
  const dev = isTable(top.dev) && !isGenerated(top) ? top.dev : {};
  const nestedKeys = [
    ...Object.keys(dev)
      .filter((key) => key !== "port")
      .map((key) => `dev.${key}`),
    ...(isTable(top.queues) && !isEmpty(top.queues.consumers) ? ["queues.consumers"] : []),
    ...(isTable(top.triggers) && top.triggers.events !== undefined ? ["triggers.events"] : []),
    ...(isTable(top.assets) && top.assets.experimental_serve_directly !== undefined
      ? ["assets.experimental_serve_directly"]
      : []),
  ];
  const names = [
    ...Object.keys(top).filter((key) => ignoredKeys.includes(key) && isWritten(key)),
    ...nestedKeys,
  ];
  if (names.length > 0) note(`these keys have no effect in Store: ${names.join(", ")}.`);
  if (dev.ip !== undefined) note("to listen on another address than 127.0.0.1, use --host.");
  if (dev.local_protocol === "https") note("for HTTPS use --tls-cert and --tls-key.");
  noteSite(top, note);
}

/** Whether a value sets nothing: absent, or empty lists and tables at every depth. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || (isTable(value) && Object.values(value).every(isEmpty));
}

/** Maximum number of unknown keys in a note. */
const maxUnknownKeys = 10;

export interface UnknownKeys {
  readonly add: (path: ConfigPath, nearest: string | undefined) => void;
  noteTo(note: Note): void;
}

/**
 * Collects unknown keys inside tables. They are not errors, because that platform's own tool ignores
 * them, and its newer versions have more keys.
 */
export function collectUnknownKeys(): UnknownKeys {
  const found = new Set<string>();
  return {
    add(path, nearest) {
      const name = path.filter((step) => typeof step === "string").join(".");
      found.add(nearest === undefined ? name : `${name} (did you mean ${nearest}?)`);
    },
    noteTo(note) {
      if (found.size === 0) return;
      const names = [...found].slice(0, maxUnknownKeys).join(", ");
      const more = found.size > maxUnknownKeys ? ` and ${found.size - maxUnknownKeys} more` : "";
      note(`these keys are not known and have no effect: ${names}${more}.`);
    },
  };
}

/** Suggests --env if only environments bind buckets or namespaces. */
export function noteEnvironments({ value }: ConfigSource, top: Table, note: Note): void {
  const keys = ["r2_buckets", "kv_namespaces"];
  const { env } = value as Table;
  if (!isTable(env) || keys.some((key) => top[key] !== undefined)) return;
  const names = Object.keys(env).filter((name) => {
    const own = env[name];
    return isTable(own) && keys.some((key) => own[key] !== undefined);
  });
  if (names.length === 0) return;
  const choices = names.map((name) => `--env ${name}`).join(" or ");
  note(`buckets and namespaces are bound only in its environments; start again with ${choices}.`);
}
