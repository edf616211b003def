// Options for the public URL of a server, which may differ from its listening address.
import type { Invocation } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";

/** Normalized as clients send it in Host: a signature for capital letters or a default port would not match. */
export function endpointOption({ options }: Invocation, name: string): string | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && URL.canParse(text)) return new URL(text).origin;
  throw usageError(`--${name} must be a URL without a path, such as https://s3.example.com, not "${text}".`);
}
