// Asks a person on the terminal: a name to be typed, or a value that nobody looking on should read.
import { createInterface } from "node:readline/promises";
import { StringDecoder } from "node:string_decoder";
import { Interrupted } from "../framework/interrupt.ts";
import type { Output } from "../framework/output.ts";

export type Input = typeof process.stdin;

/** The line a person types. */
export async function ask(input: Input, output: Output, question: string): Promise<string> {
  const prompt = createInterface({ input, output: output.stderr });
  const interruption = new Promise<never>((_, reject) => {
    prompt.on("SIGINT", () => reject(new Interrupted("SIGINT")));
    prompt.on("close", () => reject(new Interrupted("SIGINT")));
  });
  try {
    return await Promise.race([prompt.question(question), interruption]);
  } finally {
    prompt.close();
    input.pause();
  }
}

/** The line a person types without seeing it. Ctrl-C ends the command, as everywhere. */
export async function askHidden(input: Input, output: Output, question: string): Promise<string> {
  const line = createHiddenLine();
  // Before the question: whoever answers at once must not see the answer either.
  input.setRawMode(true);
  try {
    output.stderr.write(question);
    for await (const chunk of input as AsyncIterable<Buffer>) {
      const outcome = line.type(chunk);
      if (outcome === "interrupted") throw new Interrupted("SIGINT");
      if (outcome === "done") break;
    }
    return line.text();
  } finally {
    if (!input.destroyed) input.setRawMode(false);
    output.stderr.write("\n");
    input.destroy();
  }
}

export interface HiddenLine {
  type(bytes: Uint8Array): "open" | "done" | "interrupted";
  text(): string;
}

/** What keys do to a line that is not shown. */
export function createHiddenLine(): HiddenLine {
  const decoder = new StringDecoder("utf8");
  let letters: string[] = [];
  let pending = "";
  return {
    type(bytes) {
      // A key such as an arrow sends several characters; those of them that came may not be all.
      const typed = pending + decoder.write(Buffer.from(bytes));
      pending = /\u001b(\[[0-9;]*|O)?$/.exec(typed)?.[0] ?? "";
      const whole = typed
        .slice(0, typed.length - pending.length)
        .replaceAll(/\u001b(\[[0-9;]*|O)?[ -~]/g, "");
      for (const letter of whole) {
        if (letter === "\r" || letter === "\n") return "done";
        if (letter === "\u0003") return "interrupted";
        if (letter === "\u0004") return letters.length === 0 ? "interrupted" : "done";
        if (letter === "\u007f" || letter === "\b") letters.pop();
        else if (letter === "\u0015") letters = [];
        else if (letter >= " " || letter === "\t") letters.push(letter);
      }
      return "open";
    },
    text: () => letters.join(""),
  };
}
