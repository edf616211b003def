// Variables: any name, any value that JSON can hold, with the type it is written with. And the one rule over
// all names of `env`: none of them twice.
import { positionOf } from "./config-error.ts";
import type { Fields, Table } from "./config-fields.ts";
import type { ConfigPath } from "./config-places.ts";

export function checkVars(fields: Fields, top: Table): Readonly<Record<string, unknown>> {
  const line = fields.line("GREETING", "hello");
  const example = fields.source.format === "toml" ? `\n    [vars]\n    ${line}` : `"vars": { ${line} }`;
  const vars = fields.table(["vars"], top.vars, example) ?? {};
  const entries = Object.entries(vars).map(([name, value]): [string, unknown] => {
    if (name === "" || name === "__proto__") {
      fields.tell(["vars", name], {
        message: `A variable cannot be called ${JSON.stringify(name)}.`,
        hint: "Give it another name.",
        at: "key",
      });
    }
    return [name, plainValue(fields, ["vars", name], value)];
  });
  return Object.fromEntries(entries);
}

/** The value with ordinary objects in it: the parser of TOML makes objects without a prototype. */
function plainValue(fields: Fields, path: ConfigPath, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((element, index) => plainValue(fields, [...path, index], element));
  if (value instanceof Date) {
    tellUnkept(fields, path, "A date has no type of its own in env");
  } else if (typeof value === "number") {
    const written = writtenAs(fields, path);
    const isLarge = /^[+-]?[0-9_]+$/.test(written) && !Number.isSafeInteger(value);
    if (isLarge) tellUnkept(fields, path, "This number has more digits than can be kept");
    else if (!Number.isFinite(value))
      tellUnkept(fields, path, `${written} is not a number that JSON can hold`);
  } else if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, plainValue(fields, [...path, key], member)]),
    );
  }
  return value;
}

function writtenAs({ source }: Fields, path: ConfigPath): string {
  const { start, end } = source.places.find(path).value;
  return source.text.slice(start, end);
}

function tellUnkept(fields: Fields, path: ConfigPath, why: string): void {
  const written = JSON.stringify(writtenAs(fields, path));
  fields.tell(path, { message: `${why}.`, hint: `Write it in quotes: ${written}` });
}

/** Bindings and variables share one `env`. */
export function checkDistinct(fields: Fields, top: Table): void {
  const { places, text } = fields.source;
  const names = [...bindingNames(top), ...variableNames(top)].map((named) => {
    const place = places.find(named.path);
    return { ...named, start: (named.at === "key" ? place.key! : place.value).start };
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
      message: `"${named.name}" is already the name of a ${first.what}, on line ${line}.`,
      hint: "Each binding and each variable has a name of its own in env.",
      at: named.at,
    });
  }
}

interface Named {
  readonly name: string;
  readonly path: ConfigPath;
  readonly what: "bucket binding" | "binding of assets" | "variable";
  readonly at: "key" | "value";
}

function* bindingNames(top: Table): Iterable<Named> {
  const assets: unknown = (top.assets as Table | null | undefined)?.binding;
  if (typeof assets === "string") {
    yield { name: assets, path: ["assets", "binding"], what: "binding of assets", at: "value" };
  }
  if (!Array.isArray(top.store_buckets)) return;
  for (const [index, bucket] of top.store_buckets.entries()) {
    const name: unknown = (bucket as Table | null)?.binding;
    const path = ["store_buckets", index, "binding"];
    if (typeof name === "string") yield { name, path, what: "bucket binding", at: "value" };
  }
}

function* variableNames(top: Table): Iterable<Named> {
  if (typeof top.vars !== "object" || top.vars === null || Array.isArray(top.vars)) return;
  for (const name of Object.keys(top.vars)) {
    yield { name, path: ["vars", name], what: "variable", at: "key" };
  }
}
