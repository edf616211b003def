// The interface of a fuzz target: a call into one entry point of the product.

export interface Target {
  readonly name: string;
  /** Valid inputs to start mutations from. In the bytes form, each character is one byte. */
  readonly samples: readonly string[];
  readonly form: "text" | "bytes";
  /** Tokens of the target's language, for mutations to insert. */
  readonly tokens?: readonly string[];
  /** Maximum length in characters; longer inputs are cut. */
  readonly longest?: number;
  /** Creates the state that inputs may touch; called once per batch. */
  open(): Runner | Promise<Runner>;
}

export interface Runner {
  /** Returns a short name of the outcome. Throws the product's own error, or a Violation. */
  run(input: string): string | Promise<string>;
  /** Returns the outcome of an error; undefined if the product does not document it. */
  outcomeOf(error: unknown): string | undefined;
  /** Messages that a caller may see although they look like internals. */
  readonly passes?: RegExp;
  close?(): Promise<void>;
}

/** Thrown if the product returned a wrong result. */
export class Violation extends Error {}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Violation(what);
}

const inner =
  /undefined|\bNaN\b|\[object |Cannot (?:read|set|convert|destructure)|is not (?:a function|iterable|a constructor)|Invalid (?:Date|time|array|string)|Maximum call stack/;

/** Returns the first words of a message without quoted text, to group outcomes. */
export function kindOf(message: string): string {
  const plain = /^[a-zA-Z ,]*/.exec(message.replace(/".*"/s, ""))![0];
  return plain.trim().split(" ", 4).join(" ").slice(0, 40);
}

/** Whether a message is not empty and does not expose internals such as "undefined". */
export function isClear(message: string, input: string): boolean {
  const found = inner.exec(message)?.[0];
  return message.trim() !== "" && (found === undefined || input.toLowerCase().includes(found.toLowerCase()));
}
