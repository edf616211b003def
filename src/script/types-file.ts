// Writes the types of a script's `env` from its configuration, so that the editor knows each binding, variable
// and secret. The file declares `Env` for the whole project: a script uses it without importing it.
import { basename } from "node:path";
import type { ScriptConfig } from "./config.ts";
import { identifierFault } from "./identifier.ts";

export const typesFile = "store-env.d.ts";

export function envTypes(config: ScriptConfig, secretNames: readonly string[]): string {
  const members = [
    ...config.buckets.map(({ binding, bucketName }) => ({
      name: binding,
      type: "StoreBucket",
      words: `The bucket ${bucketName}.`,
    })),
    ...config.kvNamespaces.map(({ binding, namespace }) => ({
      name: binding,
      type: "StoreKvNamespace",
      words: `The key-value namespace ${namespace}.`,
    })),
    ...Object.entries(config.vars).map(([name, value]) => ({ name, type: typeOf(value, 2), words: "" })),
    ...[...secretNames].sort().map((name) => ({ name, type: "string", words: "A secret." })),
  ];
  const imported = [
    ...(config.buckets.length > 0 ? ["StoreBucket"] : []),
    ...(config.kvNamespaces.length > 0 ? ["StoreKvNamespace"] : []),
  ];
  const imports =
    imported.length > 0
      ? `import type { ${imported.join(", ")} } from "store";\n\ndeclare global`
      : "declare global";
  // Without an import it would be no module, and could declare nothing global.
  const ending = imported.length > 0 ? "" : "\nexport {};\n";
  return [
    `// Written by \`store types\` from ${basename(config.file)}: run it again after a change instead of editing this.`,
    `${imports} {`,
    "  interface Env {",
    ...members.flatMap(({ name, type, words }) => [
      ...(words === "" ? [] : [`    /** ${words} */`]),
      `    ${propertyName(name)}: ${type};`,
    ]),
    "  }",
    "}",
    ending,
  ].join("\n");
}

function propertyName(name: string): string {
  return identifierFault(name) === undefined ? name : JSON.stringify(name);
}

/** The type a value is written with: any text is a string, so that changing it changes no type. */
function typeOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) return arrayType(value, depth);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const entries = Object.entries(value);
  if (entries.length === 0) return "Record<string, never>";
  const indent = "  ".repeat(depth + 1);
  const members = entries.map(
    ([name, member]) => `${indent}${propertyName(name)}: ${typeOf(member, depth + 1)};\n`,
  );
  return `{\n${members.join("")}${"  ".repeat(depth)}}`;
}

function arrayType(elements: readonly unknown[], depth: number): string {
  const types = [...new Set(elements.map((element) => typeOf(element, depth)))];
  const [only] = types;
  if (only === undefined) return "never[]";
  return types.length === 1 && /^\w+$/.test(only) ? `${only}[]` : `(${types.join(" | ")})[]`;
}
