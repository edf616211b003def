// A hint for the most common fault of a script that was written for another configuration: it uses a binding that env
// does not have, so JavaScript reports a property of undefined.
import type { Environment } from "../environment.ts";

const methods =
  "get|put|head|delete|list|createMultipartUpload|resumeMultipartUpload|getWithMetadata|fetch|presign";
const undefinedProperty = new RegExp(`^Cannot read properties of undefined \\(reading '(?:${methods})'`);
/** How many names are listed. */
const maxNames = 20;

/** The names in env, without their values; undefined for other errors. */
export function missingBindingHint(error: unknown, env: Environment): string | undefined {
  if (!(error instanceof TypeError) || !undefinedProperty.test(error.message)) return undefined;
  const names = Object.keys(env).slice(0, maxNames);
  const nameList = names.length === 0 ? "nothing" : names.join(", ");
  return `If this is a binding: env holds ${nameList}. Compare the names in the script and in the configuration.`;
}
