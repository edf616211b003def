// Parses the JSON of a policy. A name that occurs twice in one object is refused: readers differ in
// which of the two they use.
import { PolicyError } from "./policy.ts";

const maxDepth = 16;

export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    const [, position] = /position (\d+)/.exec(reason) ?? [];
    throw new PolicyError(`The policy is not valid JSON${position ? ` at character ${position}` : ""}.`);
  }
  checkNames(text);
  return value;
}

/** Finds repeated names in text that is known to be valid JSON. */
function checkNames(text: string): void {
  const scopes: Set<string>[] = [];
  // Only a name is followed by a colon.
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/gs)) {
    if (token === "{" || token === "[") {
      scopes.push(new Set());
      if (scopes.length > maxDepth) throw new PolicyError("The policy has too many nested levels.");
    } else if (token === "}" || token === "]") scopes.pop();
    else if (name !== undefined) addName(scopes.at(-1)!, JSON.parse(name) as string);
  }
}

function addName(names: Set<string>, name: string): void {
  if (names.has(name)) throw new PolicyError(`The policy has the name "${name}" twice in one object.`);
  names.add(name);
}
