// Script names: used in secrets, URLs and log lines, so every name is a valid host name label.

const shape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const scriptNameRule =
  "lowercase letters, digits and dashes, at most 63 of them, a letter or digit at both ends";

export function isScriptName(name: string): boolean {
  return shape.test(name);
}

/** Returns the most similar valid name, if there is one. */
export function asScriptName(name: string): string | undefined {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "");
  return label === "" ? undefined : label;
}
