// Writes the types of a script's `env` for the editor: bindings, variables and secrets. The file
// declares the global `Env`, and the `env` of the module cloudflare:workers.
import { basename } from "node:path";
import { identifierFault } from "../../model/names/identifier.ts";
import type { ScriptConfig } from "./config.ts";

export const typesFile = "store-env.d.ts";

interface Member {
  readonly name: string;
  readonly type: string;
  readonly comment?: string;
}

/** Writes no import statement, which would turn the file into a module without globals. */
export function envTypes(config: ScriptConfig, secretNames: readonly string[]): string {
  const declared: Member[] = [
    ...bindingMembers(config),
    ...Object.entries(config.vars).map(([name, value]) => ({ name, type: formatType(value, 2) })),
  ];
  // A secret or development variable may have the name of a variable, whose type is kept.
  const secrets = [...new Set(secretNames)].filter((secret) => !declared.some(({ name }) => name === secret));
  const members = [
    ...declared,
    ...secrets.sort().map((name) => ({ name, type: "string", comment: "A secret." })),
  ];
  return [
    `// Written by \`store types\` from ${basename(config.file)}: run it again after a change instead of editing this.`,
    "declare namespace Cloudflare {",
    "  interface Env {",
    ...members.flatMap(({ name, type, comment }: Member) => [
      ...(comment === undefined ? [] : [`    /** ${comment} */`]),
      `    ${propertyName(name)}: ${type};`,
    ]),
    "  }",
    "}",
    "",
    "interface Env extends Cloudflare.Env {}",
    "",
    "// A pattern, so that an exact declaration of the module in another package takes precedence.",
    'declare module "cloudflare:workers*" {',
    "  export const env: Cloudflare.Env;",
    "}",
    "",
  ].join("\n");
}

function bindingMembers(config: ScriptConfig): Member[] {
  const { buckets, kvNamespaces, services, assets, emulated, unsupported } = config;
  const members: Member[] = [
    ...buckets.map(({ binding, bucketName }) => ({
      name: binding,
      type: storeType("StorePresigningBucket"),
      comment: `The bucket ${bucketName}.`,
    })),
    ...kvNamespaces.map(({ binding, namespace }) => ({
      name: binding,
      type: storeType("StoreKvNamespace"),
      comment: `The key-value namespace ${namespace}.`,
    })),
  ];
  for (const { binding, service } of services) {
    const comment = `The script ${service}. Its methods have no types here.`.replaceAll("*/", "* /");
    members.push({ name: binding, type: "any", comment });
  }
  if (assets?.binding !== undefined) {
    members.push({ name: assets.binding, type: storeType("StoreAssets"), comment: "The static files." });
  }
  for (const { binding, kind } of emulated) members.push({ name: binding, ...emulatedTypes[kind] });
  for (const { binding, kind } of unsupported) {
    const comment = `Not available: Store does not have ${kind}. Using this binding fails.`;
    members.push({ name: binding, type: "unknown", comment: comment.replaceAll("*/", "* /") });
  }
  return members;
}

const emulatedTypes = {
  "rate limiter": {
    type: "{ limit(options: { key: string }): Promise<{ success: boolean }> }",
    comment: "A rate limiter that counts per process.",
  },
  dataset: {
    type: "{ writeDataPoint(point?: object): void }",
    comment: "A dataset: data points are dropped.",
  },
} as const;

function storeType(name: string): string {
  return `import(${JSON.stringify("store-server")}).${name}`;
}

function propertyName(name: string): string {
  return identifierFault(name) === undefined ? name : JSON.stringify(name);
}

/** Types a string as `string`, not as a literal, so that a new value does not change the type. */
function formatType(value: unknown, depth: number): string {
  if (Array.isArray(value)) return arrayType(value, depth);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const entries = Object.entries(value);
  if (entries.length === 0) return "Record<string, never>";
  const indent = "  ".repeat(depth + 1);
  const members = entries.map(
    ([name, member]) => `${indent}${propertyName(name)}: ${formatType(member, depth + 1)};\n`,
  );
  return `{\n${members.join("")}${"  ".repeat(depth)}}`;
}

function arrayType(elements: readonly unknown[], depth: number): string {
  const types = [...new Set(elements.map((element) => formatType(element, depth)))];
  const [only] = types;
  if (only === undefined) return "never[]";
  return types.length === 1 && /^\w+$/.test(only) ? `${only}[]` : `(${types.join(" | ")})[]`;
}
