// Reads what the runtime writes: console output of the script, uncaught errors, and messages of the
// runtime itself. The configuration makes each of them one line of JSON.

import { isFields, isText } from "../../../model/shape.ts";
import type { MapLine } from "./map-stack.ts";

type Stream = "stdout" | "stderr";

export interface RuntimeOutput {
  /** Takes one line of the process. */
  write(line: string, stream: Stream): void;
  /** Returns the errors of the start, for a script that cannot be loaded. */
  errors(): string;
  /** From now on errors are output of the script, not faults of its start. */
  startServing(): void;
}

const maxErrors = 20;

/** `mapLine` translates positions in stack traces. */
export function createRuntimeOutput(
  onLine: (line: string, stream: Stream) => void,
  mapLine: MapLine = (line) => line,
): RuntimeOutput {
  const errors: string[] = [];
  let isServing = false;

  function emit(text: string, stream: Stream): void {
    for (const line of text.split("\n")) onLine(mapLine(line), stream);
  }

  return {
    write(line, stream) {
      const entry = parseLine(line, stream);
      if (!entry.isOfRuntime) {
        emit(entry.message, /^(error|warn)/.test(entry.level) ? "stderr" : "stdout");
        return;
      }
      const text = cleanMessage(entry);
      if (text === undefined) return;
      if (isServing) emit(text, "stderr");
      else if (errors.length < maxErrors) errors.push(text);
    },
    errors: () => errors.join("\n"),
    startServing() {
      isServing = true;
      for (const text of errors.splice(0)) emit(text, "stderr");
    },
  };
}

interface OutputEntry {
  readonly level: string;
  readonly message: string;
  /** Whether the runtime wrote it, not the script. */
  readonly isOfRuntime: boolean;
}

/** A line that is not an entry of the runtime, such as one of the wall, is taken as it is. */
function parseLine(line: string, stream: Stream): OutputEntry {
  const plain = { level: "error", message: line, isOfRuntime: stream === "stderr" };
  if (!line.startsWith("{")) return plain;
  try {
    const entry: unknown = JSON.parse(line);
    if (!isFields(entry) || !isText(entry.level, 32) || typeof entry.message !== "string") return plain;
    // Only entries of the runtime name a source file.
    return { level: entry.level, message: entry.message, isOfRuntime: entry.source !== undefined };
  } catch {
    return plain;
  }
}

/** Returns the part of the message that helps the script's author; undefined for noise. */
function cleanMessage({ level, message }: OutputEntry): string | undefined {
  const [, stack] = /^uncaught exception; source = [^;]*; stack = ([\s\S]*)$/.exec(message) ?? [];
  if (stack !== undefined) return stack;
  const [, warning] = /^console warning; message = ([\s\S]*)$/.exec(message) ?? [];
  if (warning !== undefined) return `Warning: ${warning}`;
  // Repeats an error whose stack trace was written before.
  if (/^uncaught exception; exception = |^Uncaught exception: /.test(message)) return undefined;
  if (!/^(error|fatal|warn)/.test(level)) return undefined;
  // Behind the wall there is no /proc.
  if (message.startsWith("Unable to find and open the program executable")) return undefined;
  if (/^service main: The compatibility flag \S+ became the default/.test(message)) return undefined;
  if (/^Exported actor class as default entrypoint/.test(message)) return entryClassHint;
  return message.replace(/^service main: (?:Uncaught )?/, "").replace(/\nstack: [\s\S]*$/, "");
}

const entryClassHint =
  'In a sandbox a class that is exported by default extends WorkerEntrypoint: import it from "cloudflare:workers".';
