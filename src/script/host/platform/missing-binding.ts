// Hint for a common fault: the script uses a binding that env does not have, and JavaScript only
// reports a property of undefined.
import type { Environment } from "../environment.ts";

const methods =
  "get|put|head|delete|list|createMultipartUpload|resumeMultipartUpload|getWithMetadata|fetch|presign|temporaryCredentials|" +
  "setTags|setRetention|setLegalHold";
const undefinedProperty = new RegExp(`^Cannot read properties of undefined \\(reading '(?:${methods})'`);
/** Maximum number of names in the hint. */
const maxNames = 20;

/** Lists the names in env, without values; undefined for other errors. */
export function missingBindingHint(error: unknown, env: Environment): string | undefined {
  if (!(error instanceof TypeError) || !undefinedProperty.test(error.message)) return undefined;
  const names = Object.keys(env).slice(0, maxNames);
  const nameList = names.length === 0 ? "nothing" : names.join(", ");
  return `If this is a binding: env holds ${nameList}. Compare the names in the script and in the configuration.`;
}
