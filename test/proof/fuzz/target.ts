// What the fuzzer throws its inputs at: a table of targets, each a pure call into one of the product's entry points.

export interface Target {
  readonly name: string;
  /** Valid inputs, which mutations start from. In bytes, each character stands for one. */
  readonly samples: readonly string[];
  readonly form: "text" | "bytes";
  /** What belongs to the target's language, to be strewn in. */
  readonly tokens?: readonly string[];
  /** In characters; what is longer is cut. */
  readonly longest?: number;
  /** Everything an input may touch, made anew for each batch. */
  open(): Runner | Promise<Runner>;
}

export interface Runner {
  /** What became of the input, in a word or two. Throws the product's own error, or a Violation. */
  run(input: string): string | Promise<string>;
  /** What became of it when this was thrown; undefined for an error that the product does not document. */
  outcomeOf(error: unknown): string | undefined;
  /** Messages of the platform's own that a caller may see. */
  readonly passes?: RegExp;
  close?(): Promise<void>;
}

/** The product answered, and the answer is wrong. */
export class Violation extends Error {}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Violation(what);
}

const inner =
  /undefined|\bNaN\b|\[object |Cannot (?:read|set|convert|destructure)|is not (?:a function|iterable|a constructor)|Invalid (?:Date|time|array|string)|Maximum call stack/;

/** What a message begins with, without what it quotes: one kind of outcome. */
export function kindOf(message: string): string {
  const plain = /^[a-zA-Z ,]*/.exec(message.replace(/".*"/s, ""))![0];
  return plain.trim().split(" ", 4).join(" ").slice(0, 40);
}

/** A message for a person: there is one, and it does not speak of our own insides. */
export function isClear(message: string, input: string): boolean {
  const found = inner.exec(message)?.[0];
  return message.trim() !== "" && (found === undefined || input.toLowerCase().includes(found.toLowerCase()));
}
