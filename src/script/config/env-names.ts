// Every name that a configuration puts into a script's env, with its place in the file. Bindings, variables and
// secrets share one namespace.
import type { ScriptBindings } from "../bindings.ts";
import { positionOf } from "./syntax/error.ts";
import type { Fields } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";

export interface EnvName {
  readonly name: string;
  /** With its article: "a bucket binding". */
  readonly what: string;
  readonly path: ConfigPath;
  readonly at: "key" | "value";
}

export function envNames({
  buckets,
  kvNamespaces,
  assets,
  emulated,
  unsupported,
  vars,
}: ScriptBindings): readonly EnvName[] {
  const bound = (what: string, key: string) => (entry: { readonly binding: string }, index: number) =>
    ({ name: entry.binding, what, path: [key, index, "binding"], at: "value" }) as const;
  const binding = assets?.binding;
  return [
    ...buckets.map(bound("a bucket binding", "store_buckets")),
    ...kvNamespaces.map(bound("a KV binding", "kv_namespaces")),
    ...(binding === undefined
      ? []
      : [{ name: binding, what: "the assets binding", path: ["assets", "binding"], at: "value" } as const]),
    ...emulated.map(({ binding, kind }, index) => {
      return { name: binding, what: `a ${kind}`, path: ["emulated", index], at: "value" } as const;
    }),
    ...unsupported.map(({ binding, kind }, index) => {
      return { name: binding, what: kind, path: ["unsupported", index], at: "value" } as const;
    }),
    ...Object.keys(vars).map((name) => {
      return { name, what: "a variable", path: ["vars", name], at: "key" } as const;
    }),
  ];
}

export function checkDistinct(fields: Fields, bindings: ScriptBindings): void {
  const { places, text } = fields.source;
  const names = envNames(bindings)
    .filter(({ name }) => name !== "")
    .map((named) => {
      const place = places.find(named.path);
      const { start } = named.at === "key" ? (place.key ?? place.value) : place.value;
      return { ...named, start };
    });
  const seen = new Map<string, (typeof names)[number]>();
  for (const named of names.sort((a, b) => a.start - b.start)) {
    const first = seen.get(named.name);
    if (first === undefined) {
      seen.set(named.name, named);
      continue;
    }
    const { line } = positionOf(text, first.start);
    fields.tell(named.path, {
      message: `"${named.name}" is already the name of ${first.what}, on line ${line}.`,
      hint: "Each binding and each variable has a name of its own in env.",
      at: named.at,
    });
  }
}
