// The key-value namespaces of a configuration: `kv_namespaces`, each with the name in env and the namespace's id.
import { isNamespaceName, namespaceNameRule } from "../../model/key-value.ts";
import type { KvBinding } from "../bindings.ts";
import { checkBinding } from "../config-check.ts";
import type { Fields, Table } from "../config-fields.ts";
import type { ConfigPath } from "../config-places.ts";

export function checkKvNamespaces(fields: Fields, top: Table): KvBinding[] {
  const example = kvExample(fields);
  const found: KvBinding[] = [];
  for (const { path, value } of fields.list(["kv_namespaces"], top.kv_namespaces, example)) {
    const given = fields.table(path, value, example);
    if (given === undefined) continue;
    const binding = checkBinding(fields, [...path, "binding"], given.binding);
    const namespace = checkNamespace(fields, [...path, "id"], given.id);
    // Other tools use it; Store only checks its type.
    fields.string([...path, "preview_id"], given.preview_id, fields.line("preview_id", "sessions"));
    found.push({ binding, namespace });
  }
  return found;
}

function kvExample({ source }: Fields): string {
  return source.format === "toml"
    ? '\n    [[kv_namespaces]]\n    binding = "SESSIONS"\n    id = "sessions"'
    : '"kv_namespaces": [{ "binding": "SESSIONS", "id": "sessions" }]';
}

function checkNamespace(fields: Fields, path: ConfigPath, value: unknown): string {
  const example = fields.line("id", "sessions");
  if (value === undefined) fields.missing(path, `Add the name of a namespace: ${example}`);
  const name = fields.string(path, value, example);
  if (name === undefined) return "";
  if (!isNamespaceName(name)) {
    const nearby = name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 128);
    fields.tell(path, {
      message: `${JSON.stringify(name)} cannot be a namespace's name: it is ${namespaceNameRule}.`,
      hint: `Write: ${isNamespaceName(nearby) ? fields.line("id", nearby) : example}`,
    });
  }
  return name;
}
