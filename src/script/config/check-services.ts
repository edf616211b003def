// Checks the service bindings: each entry of `services` becomes a binding in env that calls another
// script of this server, or an entry point of the script itself.
import type { Isolation, ServiceBinding } from "../bindings.ts";
import { checkBinding } from "./rules.ts";
import { type Fields, isTable, type Table } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";
import { plainValue } from "./vars/vars.ts";

const maxNameLength = 255;

export function checkServices(fields: Fields, top: Table, isolation: Isolation): ServiceBinding[] {
  const example =
    fields.source.format === "toml"
      ? '\n    [[services]]\n    binding = "AUTH"\n    service = "auth"'
      : '"services": [{ "binding": "AUTH", "service": "auth" }]';
  const entries = fields.list(["services"], top.services, example);
  if (entries.length > 0 && isolation === "process") {
    fields.report(["services"], {
      message: "Service bindings exist only in a sandbox.",
      hint: `Add: ${fields.line("isolation", "sandbox")}, or remove them.`,
      at: "key",
    });
    return [];
  }
  const found: ServiceBinding[] = [];
  for (const { path, value } of entries) {
    const entry = fields.table(path, value, example);
    if (entry === undefined) continue;
    const binding = checkBinding(fields, [...path, "binding"], entry.binding, "AUTH");
    const service = checkName(fields, [...path, "service"], entry.service, "auth");
    if (entry.service === undefined)
      fields.missing([...path, "service"], `Add: ${fields.line("service", "auth")}`);
    const entrypoint = checkName(fields, [...path, "entrypoint"], entry.entrypoint, "Admin");
    const props = checkProps(fields, [...path, "props"], entry.props);
    if (service !== undefined) found.push({ binding, service, entrypoint, props });
  }
  return found;
}

function checkName(fields: Fields, path: ConfigPath, value: unknown, sample: string): string | undefined {
  const example = fields.line(String(path.at(-1)), sample);
  const name = fields.string(path, value, example);
  if (name === undefined || (name !== "" && name.length <= maxNameLength)) return name;
  fields.report(path, {
    message: `"${String(path.at(-1))}" is a name of 1 to ${maxNameLength} characters.`,
    hint: `Write: ${example}`,
  });
  return undefined;
}

function checkProps(fields: Fields, path: ConfigPath, value: unknown): Table | undefined {
  if (value === undefined) return undefined;
  if (isTable(value)) return plainValue(fields, path, value) as Table;
  fields.report(path, {
    message: '"props" must be a table: the callee reads it as ctx.props.',
    hint: `Write: ${fields.source.format === "toml" ? 'props = { plan = "free" }' : '"props": { "plan": "free" }'}`,
  });
  return undefined;
}
