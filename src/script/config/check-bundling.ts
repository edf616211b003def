// Checks the bundling options: text replacements, module aliases, JSX, and files imported as text,
// bytes or WebAssembly.
import { dirname, resolve } from "node:path";
import { isFile } from "./rules.ts";
import type { Element, Fields, Table } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";

export type ModuleType = "ESModule" | "CommonJS" | "CompiledWasm" | "Text" | "Data";

export interface ModuleRule {
  readonly type: ModuleType;
  readonly globs: readonly string[];
}

export interface BundlingOptions {
  readonly define?: Readonly<Record<string, string>>;
  readonly alias?: Readonly<Record<string, string>>;
  readonly jsxFactory?: string;
  readonly jsxFragment?: string;
  /** Absolute path. */
  readonly tsconfig?: string;
  readonly rules?: readonly ModuleRule[];
}

const moduleTypes: readonly ModuleType[] = ["Text", "Data", "CompiledWasm", "ESModule", "CommonJS"];

export function checkBundling(fields: Fields, top: Table): BundlingOptions {
  const define = checkTextTable(fields, top, "define", "VERSION", '"1.0"');
  const alias = checkTextTable(fields, top, "alias", "old-name", "./src/new-name.ts");
  const jsxFactory = checkExpression(fields, top, "jsx_factory", "h");
  const jsxFragment = checkExpression(fields, top, "jsx_fragment", "Fragment");
  const tsconfig = checkTsconfig(fields, top);
  const rules = checkRules(fields, top);
  return {
    ...(define === undefined ? {} : { define }),
    ...(alias === undefined ? {} : { alias: resolveAliases(fields, alias) }),
    ...(jsxFactory === undefined ? {} : { jsxFactory }),
    ...(jsxFragment === undefined ? {} : { jsxFragment }),
    ...(tsconfig === undefined ? {} : { tsconfig }),
    ...(rules.length === 0 ? {} : { rules }),
  };
}

function checkTextTable(
  fields: Fields,
  top: Table,
  key: string,
  name: string,
  text: string,
): Record<string, string> | undefined {
  const line = fields.line(name, text);
  const example = fields.source.format === "toml" ? `\n    [${key}]\n    ${line}` : `"${key}": { ${line} }`;
  const table = fields.table([key], top[key], example);
  if (table === undefined) return undefined;
  const entries = Object.entries(table).flatMap(([name, value]) => {
    const text = fields.string([key, name], value, fields.line(name, String(value)));
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(entries);
}

/** Resolves relative paths from the folder of the configuration file. */
function resolveAliases({ source }: Fields, alias: Record<string, string>): Record<string, string> {
  const absolute = (target: string) =>
    /^\.\.?(\/|$)/.test(target) ? resolve(dirname(source.file), target) : target;
  return Object.fromEntries(Object.entries(alias).map(([name, target]) => [name, absolute(target)]));
}

function checkExpression(fields: Fields, top: Table, key: string, example: string): string | undefined {
  const line = fields.line(key, example);
  const text = fields.string([key], top[key], line);
  if (
    text === undefined ||
    /^[\p{ID_Start}$_][\p{ID_Continue}$]*(\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*$/u.test(text)
  )
    return text;
  const message = `${JSON.stringify(text)} is not the name of a function, such as React.createElement.`;
  fields.report([key], { message, hint: `Write: ${line}` });
  return undefined;
}

function checkTsconfig(fields: Fields, top: Table): string | undefined {
  const written = fields.string(["tsconfig"], top.tsconfig, fields.line("tsconfig", "tsconfig.json"));
  if (written === undefined) return undefined;
  const file = resolve(dirname(fields.source.file), written);
  if (!isFile(file)) {
    fields.report(["tsconfig"], {
      message: `There is no file ${JSON.stringify(written)}.`,
      hint: `Looked for ${file}`,
    });
  }
  return file;
}

function checkRules(fields: Fields, top: Table): ModuleRule[] {
  const example =
    fields.source.format === "toml"
      ? '\n    [[rules]]\n    type = "Text"\n    globs = ["**/*.md"]'
      : '"rules": [{ "type": "Text", "globs": ["**/*.md"] }]';
  return fields.list(["rules"], top.rules, example).flatMap(({ path, value }) => {
    const rule = fields.table(path, value, example);
    if (rule === undefined) return [];
    const type = checkType(fields, [...path, "type"], rule.type);
    const globsPath = [...path, "globs"];
    const globsLine = fields.line("globs", ["**/*.md"]);
    if (rule.globs === undefined) fields.missing(globsPath, `Add the files it is for: ${globsLine}`);
    const globs = fields
      .list(globsPath, rule.globs, globsLine)
      .flatMap((element: Element) => fields.string(element.path, element.value, globsLine) ?? []);
    return type === undefined ? [] : [{ type, globs }];
  });
}

function checkType(fields: Fields, path: ConfigPath, value: unknown): ModuleType | undefined {
  const line = fields.line("type", "Text");
  if (value === undefined) fields.missing(path, `Add what they are imported as: ${line}`);
  const text = fields.string(path, value, line);
  const type = moduleTypes.find((candidate) => candidate === text);
  if (text !== undefined && type === undefined) {
    const message = `Files cannot be imported as ${JSON.stringify(text)}.`;
    fields.report(path, { message, hint: `It is one of: ${moduleTypes.join(", ")}` });
  }
  return type;
}
