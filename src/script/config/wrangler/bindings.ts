// Unsupported bindings of a wrangler file: each is present in env and throws when it is used.
import type { UnsupportedBinding } from "../../bindings.ts";
import { type Fields, isTable, type Table } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";
import { blobBindings, foreignBindings, serviceKind } from "./keys.ts";
import { hasSite } from "./site.ts";
import { siteBinding } from "./site-names.ts";

/** Hint for a binding that Store does not support. */
export const unsupportedHint = "For alternatives see docs/migrating.md in Store's documentation.";

export interface FoundBinding extends UnsupportedBinding {
  readonly inView: ConfigPath;
}

/** Returns the bindings grouped by kind. Reports entries without a name. */
export function unsupportedBindings(
  fields: Fields,
  top: Table,
  { isSandboxed }: { readonly isSandboxed: boolean },
): readonly FoundBinding[] {
  const kinds = isSandboxed ? foreignBindings : [...foreignBindings, serviceKind];
  return [
    ...kinds.flatMap((kind) =>
      entriesAt(top, kind.path).flatMap(({ path, value }) =>
        readNamedBinding(fields, [...path, kind.nameKey], value[kind.nameKey], kind.kind),
      ),
    ),
    ...entriesAt(top, ["unsafe", "bindings"])
      .filter(({ value }) => value.type !== "ratelimit")
      .flatMap(({ path, value }) =>
        readNamedBinding(fields, [...path, "name"], value.name, `an unsafe binding (${String(value.type)})`),
      ),
    ...Object.entries(blobBindings).flatMap(([key, kind]) => {
      const names = isTable(top[key]) ? Object.keys(top[key]) : [];
      return names.map((binding) => ({ binding, kind, inView: [key, binding] }));
    }),
    ...(top.site === undefined || hasSite(top)
      ? []
      : [{ binding: siteBinding, kind: "the namespace of a Workers Site", inView: ["site"] }]),
  ];
}

export interface Entry {
  readonly path: ConfigPath;
  readonly value: Table;
}

export function entriesAt(top: Table, path: readonly string[]): Entry[] {
  let value: unknown = top;
  for (const key of path) value = isTable(value) ? value[key] : undefined;
  if (isTable(value)) return [{ path, value }];
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown, index) =>
    isTable(entry) ? [{ path: [...path, index], value: entry }] : [],
  );
}

export function readNamedBinding(
  fields: Fields,
  path: ConfigPath,
  value: unknown,
  kind: string,
): FoundBinding[] {
  const example = fields.line(String(path.at(-1)), "NAME");
  if (value === undefined) fields.missing(path, `Add its name in env: ${example}`);
  const binding = fields.string(path, value, example);
  return binding === undefined ? [] : [{ binding, kind, inView: path }];
}
