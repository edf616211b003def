// Reads roles on the whole store and on buckets from a request.
import { hasNoPermissions, mergePermissions, type Permissions, parsePermission } from "../../auth/roles.ts";
import { ConsoleError } from "../../response.ts";
import type { Fields } from "../../route.ts";

export const maxBuckets = 1000;
/** Roles on as many buckets with the longest names. */
export const maxPermissionBytes = 128 * 1024;

/** Undefined if the request names no role. */
export function parsePermissions(given: Fields): Permissions | undefined {
  const role = given.optionalText("role");
  const buckets = Object.entries(given.texts("buckets"));
  if (buckets.length > maxBuckets)
    throw new ConsoleError(400, `A user can have roles on at most ${maxBuckets} buckets.`);
  const texts = [...(role === undefined ? [] : [role]), ...buckets.map(([name, one]) => `${name}:${one}`)];
  const permissions = mergePermissions(texts.map((text) => withConsoleError(() => parsePermission(text))));
  return hasNoPermissions(permissions) ? undefined : permissions;
}

/** The rules of the model throw a RangeError with a message for the user. */
export function withConsoleError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new ConsoleError(400, error.message);
    throw error;
  }
}
