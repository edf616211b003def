// Shows the lines of a script's own files in stack traces, as the process tier does. The runtime
// reads no source maps, so positions in the bundle are translated in its output.
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";

/** Translates the positions in one line of output. */
export type MapLine = (line: string) => string;

/** `bundle` is the name of the script in stack traces. */
export function createStackMapper(bundle: string, sourceMap: string | undefined): MapLine {
  if (sourceMap === undefined) return (line) => line;
  const pattern = new RegExp(`(?<![\\w./-])${bundle.replaceAll(".", "\\.")}:(\\d+):(\\d+)`, "g");
  let parsed: { readonly map: SourceMap; readonly root: string } | undefined;

  function find(line: number, column: number): string | undefined {
    if (parsed === undefined) {
      const payload = JSON.parse(sourceMap!) as SourceMapPayload;
      parsed = { map: new SourceMap(payload), root: payload.sourceRoot };
    }
    const entry = parsed.map.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return undefined;
    return `${toPath(entry.originalSource, parsed.root)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }

  return (line) => {
    // Only lines of stack traces: other output of a script is left as it is.
    if (!/^\s+at /.test(line)) return line;
    return line.replace(
      pattern,
      (text, row: string, column: string) => find(Number(row), Number(column)) ?? text,
    );
  };
}

function toPath(source: string, root: string): string {
  const url = URL.canParse(source, root) ? new URL(source, root) : undefined;
  return url?.protocol === "file:" ? fileURLToPath(url) : source;
}
