// esbuild plugin for the `rules` of a configuration: imports matching files as text, bytes or
// WebAssembly.
import type { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import type { Plugin } from "esbuild";
import type { ModuleRule } from "./check-bundling.ts";

/** Returns the code of a module whose default export is a WebAssembly.Module or an ArrayBuffer. */
export type FormatModule = (file: {
  readonly path: string;
  readonly kind: "wasm" | "data";
  readonly bytes: Buffer;
}) => string;

/** The first matching rule applies. Rules for code have no effect: code is always bundled. */
export function moduleRules(
  rules: readonly ModuleRule[],
  directory: string,
  format: FormatModule = formatInline,
): Plugin {
  const patterns = rules.map(({ type, globs }) => ({ type, matches: globs.map(globMatcher) }));
  return {
    name: "module-rules",
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: "file" }, async ({ path }) => {
        const name = relative(directory, path);
        const rule = patterns.find(({ matches }) => matches.some((isMatch) => isMatch(name)));
        if (rule === undefined || rule.type === "ESModule" || rule.type === "CommonJS") return undefined;
        const bytes = await readFile(path);
        if (rule.type === "Text") return { contents: bytes, loader: "text" };
        const kind = rule.type === "CompiledWasm" ? "wasm" : "data";
        return { contents: format({ path, kind, bytes }), loader: "js" };
      });
    },
  };
}

const formatInline: FormatModule = ({ kind, bytes }) => {
  const encoded = `Buffer.from("${bytes.toString("base64")}", "base64")`;
  const value = kind === "wasm" ? `new WebAssembly.Module(${encoded})` : `Uint8Array.from(${encoded}).buffer`;
  return `export default ${value};`;
};

/** The folder of the configuration counts as a folder, which a leading asterisk matches. */
export function globMatcher(glob: string): (name: string) => boolean {
  const pattern = globPattern(glob);
  return (name) => pattern.test(name) || pattern.test(`./${name}`);
}

/** `**` matches any folders, `*` part of a name, `?` one character, and `{a,b}` a or b. */
function globPattern(glob: string): RegExp {
  const bare = glob.replace(/^\.\//, "");
  const text = bare.replace(/\*\*\/|\*\*|\*|\?|\{[^}]*\}|[^\w/-]/g, (token) => {
    if (token === "**/") return "(?:.*/)?";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.startsWith("{") && token.endsWith("}")) {
      return `(?:${token.slice(1, -1).split(",").map(escapeRegExp).join("|")})`;
    }
    return escapeRegExp(token);
  });
  // A glob without a slash matches files in every folder.
  return new RegExp(`^${bare.includes("/") ? "" : "(?:.*/)?"}${text}$`);
}

function escapeRegExp(text: string): string {
  return text.replace(/[^\w]/g, "\\$&");
}
