// Validates request log lines that come from a script's process. A script can forge such lines, so
// they are parsed and rebuilt with the script's name and known fields of the right type.
import { isFields, isText } from "../../model/shape.ts";

const textFields = ["time", "id", "method", "remoteAddress", "errorCode"] as const;
const numberFields = ["status", "bytesIn", "bytesOut", "milliseconds"] as const;
const maxTextLength = 256;

/** Returns the valid lines in the format of the log. */
export function scriptLines(text: string, script: string): string {
  return text
    .split("\n")
    .map((line) => scriptLine(line, script))
    .join("");
}

function scriptLine(line: string, script: string): string {
  const fields = parseLine(line);
  if (!isFields(fields)) return "";
  const entry: Record<string, unknown> = {
    time: undefined,
    id: undefined,
    face: "script",
    script,
    operation: script,
  };
  for (const name of textFields) if (isText(fields[name], maxTextLength)) entry[name] = fields[name];
  for (const name of numberFields) if (Number.isFinite(fields[name])) entry[name] = fields[name];
  if (fields.cut === true) entry.cut = true;
  return `${JSON.stringify(entry)}\n`;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
