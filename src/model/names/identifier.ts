// Names of bindings and secrets in a script's `env`. They are JavaScript identifiers (spec 1), so
// that `const { PHOTOS } = env` works for every name.

const shape = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/** Names that a variable of a module cannot have. */
const reserved = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function if implements import in instanceof interface let new null package " +
    "private protected public return static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

/** Returns why a name cannot be used, as the end of a sentence. Undefined if it is valid. */
export function identifierFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (!shape.test(name)) return "is not a JavaScript identifier";
  if (reserved.has(name)) return "is a reserved word of JavaScript";
  // As a key of `env`, this name would set the prototype.
  if (name === "__proto__") return "has a meaning of its own in JavaScript";
  return undefined;
}

export const identifierRule =
  "letters, digits, _ and $, not beginning with a digit, and no reserved word such as class";

/** Returns the most similar valid identifier. */
export function asIdentifier(name: string): string {
  const letters = Array.from(name, (letter) => (shape.test(`_${letter}`) ? letter : "_")).join("");
  const candidate = letters === "" || /^_+$/.test(letters) ? "BUCKET" : letters;
  return identifierFault(candidate) === undefined ? candidate : `_${candidate.replace(/^_+/, "")}`;
}
