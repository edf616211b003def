// Lines of the request log that come from a script's process. A script could write such lines itself, so each is read and
// written again: what names the script is set here, and only known fields of their known types are kept.
import { isFields, isText } from "../../model/shape.ts";

const texts = ["time", "id", "method", "remoteAddress", "errorCode"] as const;
const numbers = ["status", "bytesIn", "bytesOut", "milliseconds"] as const;
const maxTextLength = 256;

/** The lines as the log keeps them; those that are not valid are left out. */
export function scriptLines(text: string, script: string): string {
  return text
    .split("\n")
    .map((line) => scriptLine(line, script))
    .join("");
}

function scriptLine(line: string, script: string): string {
  const fields = parsed(line);
  if (!isFields(fields)) return "";
  const kept: Record<string, unknown> = {
    time: undefined,
    id: undefined,
    face: "script",
    script,
    operation: script,
  };
  for (const name of texts) if (isText(fields[name], maxTextLength)) kept[name] = fields[name];
  for (const name of numbers) if (Number.isFinite(fields[name])) kept[name] = fields[name];
  if (fields.cut === true) kept.cut = true;
  return `${JSON.stringify(kept)}\n`;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
