// Lists every name in a script's env with its position in the file. Bindings, variables and secrets
// share one namespace.
import type { ScriptBindings } from "../bindings.ts";
import { toLineColumn } from "./syntax/error.ts";
import type { Fields } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";

export interface EnvName {
  readonly name: string;
  /** Description with its article: "a bucket binding". */
  readonly what: string;
  readonly path: ConfigPath;
  readonly at: "key" | "value";
}

export function envNames(bindings: ScriptBindings): readonly EnvName[] {
  const { buckets, kvNamespaces, services, assets, emulated, unsupported, vars } = bindings;
  const toEnvName = (what: string, key: string) => (entry: { readonly binding: string }, index: number) =>
    ({ name: entry.binding, what, path: [key, index, "binding"], at: "value" }) as const;
  const binding = assets?.binding;
  return [
    ...buckets.map(toEnvName("a bucket binding", "store_buckets")),
    ...kvNamespaces.map(toEnvName("a KV binding", "kv_namespaces")),
    ...services.map(toEnvName("a service binding", "services")),
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
  const { positions, text } = fields.source;
  const names = envNames(bindings)
    .filter(({ name }) => name !== "")
    .map((envName) => {
      const position = positions.find(envName.path);
      const { start } = envName.at === "key" ? (position.key ?? position.value) : position.value;
      return { ...envName, start };
    });
  const seen = new Map<string, (typeof names)[number]>();
  for (const envName of names.sort((a, b) => a.start - b.start)) {
    const first = seen.get(envName.name);
    if (first === undefined) {
      seen.set(envName.name, envName);
      continue;
    }
    const { line } = toLineColumn(text, first.start);
    fields.report(envName.path, {
      message: `"${envName.name}" is already the name of ${first.what}, on line ${line}.`,
      hint: "Each binding and each variable has a name of its own in env.",
      at: envName.at,
    });
  }
}
