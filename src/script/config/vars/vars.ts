// Checks variables: any name, and any value that JSON can represent. The value keeps its type.
import type { Fields, Table } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";

export function checkVars(fields: Fields, top: Table): Readonly<Record<string, unknown>> {
  const line = fields.line("GREETING", "hello");
  const example = fields.source.format === "toml" ? `\n    [vars]\n    ${line}` : `"vars": { ${line} }`;
  const vars = fields.table(["vars"], top.vars, example) ?? {};
  const entries = Object.entries(vars).map(([name, value]): [string, unknown] => {
    if (name === "" || name === "__proto__") {
      fields.report(["vars", name], {
        message: `A variable cannot be called ${JSON.stringify(name)}.`,
        hint: "Give it another name.",
        at: "key",
      });
    }
    return [name, plainValue(fields, ["vars", name], value)];
  });
  return Object.fromEntries(entries);
}

/** Copies the value to plain objects: the TOML parser creates objects without a prototype. */
export function plainValue(fields: Fields, path: ConfigPath, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((element, index) => plainValue(fields, [...path, index], element));
  if (value instanceof Date) {
    reportUnrepresentable(fields, path, "A date has no type of its own in env");
  } else if (typeof value === "number") {
    const written = readSourceText(fields, path);
    const isLarge = /^[+-]?[0-9_]+$/.test(written) && !Number.isSafeInteger(value);
    if (isLarge) reportUnrepresentable(fields, path, "This number has more digits than can be kept");
    else if (!Number.isFinite(value))
      reportUnrepresentable(fields, path, `${written} is not a number that JSON can hold`);
  } else if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, plainValue(fields, [...path, key], member)]),
    );
  }
  return value;
}

function readSourceText({ source }: Fields, path: ConfigPath): string {
  const { start, end } = source.positions.find(path).value;
  return source.text.slice(start, end);
}

function reportUnrepresentable(fields: Fields, path: ConfigPath, why: string): void {
  const written = JSON.stringify(readSourceText(fields, path));
  fields.report(path, { message: `${why}.`, hint: `Write it in quotes: ${written}` });
}
