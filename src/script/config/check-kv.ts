// Checks the KV namespaces: each entry of `kv_namespaces` becomes a binding in env.
import { isNamespaceName, namespaceNameRule } from "../../model/key-value.ts";
import type { KvBinding } from "../bindings.ts";
import { checkBinding } from "./rules.ts";
import type { Fields, Table } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";

/** Default namespace name of a binding without an id, derived from the binding's name. */
export function namespaceFor(binding: string): string {
  return binding.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 128) || "KV";
}

export function checkKvNamespaces(fields: Fields, top: Table): KvBinding[] {
  const example =
    fields.source.format === "toml"
      ? '\n    [[kv_namespaces]]\n    binding = "SETTINGS"'
      : '"kv_namespaces": [{ "binding": "SETTINGS" }]';
  const found: KvBinding[] = [];
  for (const { path, value } of fields.list(["kv_namespaces"], top.kv_namespaces, example)) {
    const entry = fields.table(path, value, example);
    if (entry === undefined) continue;
    const binding = checkBinding(fields, [...path, "binding"], entry.binding, "SETTINGS");
    found.push({ binding, namespace: checkId(fields, [...path, "id"], entry.id) ?? namespaceFor(binding) });
  }
  return found;
}

function checkId(fields: Fields, path: ConfigPath, value: unknown): string | undefined {
  const example = fields.line("id", "settings");
  const id = fields.string(path, value, example);
  if (id !== undefined && !isNamespaceName(id)) {
    fields.report(path, {
      message: `${JSON.stringify(id)} cannot be a namespace's name: it is ${namespaceNameRule}.`,
      hint: `Write: ${example}`,
    });
  }
  return id;
}
