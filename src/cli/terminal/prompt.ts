// Prompts on the terminal, for visible and for hidden input.
import { createInterface } from "node:readline/promises";
import { StringDecoder } from "node:string_decoder";
import { Interrupted } from "../framework/interrupt.ts";
import type { Output } from "../framework/output.ts";

export type Input = typeof process.stdin;

/** Returns the line the user types. */
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

/** Returns the line the user types, without showing it. Ctrl-C ends the command. */
export async function askHidden(input: Input, output: Output, question: string): Promise<string> {
  const [line = ""] = await askHiddenLines(input, output, [question]);
  return line;
}

/** Asks several questions, one after the other, and returns the lines. */
export async function askHiddenLines(
  input: Input,
  output: Output,
  questions: readonly string[],
): Promise<string[]> {
  const answers: string[] = [];
  // Set raw mode before the question is shown, so that input typed early is hidden too.
  input.setRawMode(true);
  try {
    for (const question of questions) {
      const line = createHiddenLine();
      output.stderr.write(answers.length === 0 ? question : `\n${question}`);
      await readHiddenLine(input, line);
      answers.push(line.text());
    }
    return answers;
  } finally {
    if (!input.destroyed) input.setRawMode(false);
    output.stderr.write("\n");
    // Paused, not destroyed: another question may follow.
    input.pause();
  }
}

function readHiddenLine(input: Input, line: HiddenLine): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      input.removeListener("data", onData);
      input.removeListener("end", onEnd);
      input.removeListener("error", onError);
      finish();
    };
    const onData = (chunk: Buffer) => {
      const outcome = line.type(chunk);
      if (outcome === "interrupted") end(() => reject(new Interrupted("SIGINT")));
      if (outcome === "done") end(resolve);
    };
    const onEnd = () => end(resolve);
    const onError = (error: Error) => end(() => reject(error));
    input.on("data", onData);
    input.on("end", onEnd);
    input.on("error", onError);
    input.resume();
  });
}

export interface HiddenLine {
  type(bytes: Uint8Array): "open" | "done" | "interrupted";
  text(): string;
}

/** Line editing for input that is not shown. */
export function createHiddenLine(): HiddenLine {
  const decoder = new StringDecoder("utf8");
  let letters: string[] = [];
  let pending = "";
  return {
    type(bytes) {
      // Keys such as arrows send escape sequences, which may arrive in several pieces.
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
