// The options --role and --bucket, which give roles in the console.
import {
  hasNoPermissions,
  mergePermissions,
  type Permissions,
  parsePermission,
  parseRole,
  type Role,
} from "../../console/auth/roles.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { parseOrUsageError, usageError } from "../framework/command-error.ts";

export const roleOptions: Readonly<Record<string, Option>> = {
  role: { value: "ROLE", summary: "role on the whole store: viewer, editor or administrator" },
  bucket: {
    value: "BUCKET:ROLE",
    summary: "role on one bucket, such as photos:editor",
    repeatable: true,
  },
};

/** Undefined if neither option is given. */
export function readPermissions({ options }: Invocation): Permissions | undefined {
  const role = options.text("role");
  const texts = options.texts("bucket");
  if (role === undefined && texts.length === 0) return undefined;
  return parseOrUsageError(() =>
    mergePermissions([
      ...(role === undefined ? [] : [{ role: parseRole(role) }]),
      ...texts.map((text) => parsePermission(requireBucketRole(text))),
    ]),
  );
}

/** Changes only what the options name; the role `none` removes a role. */
export function changePermissions({ options }: Invocation, before: Permissions): Permissions {
  const text = options.text("role");
  const role = text === undefined ? before.role : parseRoleOrNone(text);
  const buckets = new Map<string, Role>(Object.entries(before.buckets ?? {}));
  for (const given of options.texts("bucket")) {
    const colon = requireBucketRole(given).lastIndexOf(":");
    const bucket = given.slice(0, colon);
    if (given.slice(colon + 1) === "none") buckets.delete(bucket);
    else for (const entry of bucketRoles(given)) buckets.set(...entry);
  }
  const changed: Permissions = {
    ...(role === undefined ? {} : { role }),
    ...(buckets.size === 0 ? {} : { buckets: Object.fromEntries(buckets) }),
  };
  if (hasNoPermissions(changed))
    throw usageError("The user would have no role left.", "Delete the user: store user delete NAME");
  return changed;
}

function bucketRoles(text: string): readonly [string, Role][] {
  return Object.entries(parseOrUsageError(() => parsePermission(text)).buckets ?? {});
}

function parseRoleOrNone(text: string): Role | undefined {
  return text === "none" ? undefined : parseOrUsageError(() => parseRole(text));
}

function requireBucketRole(text: string): string {
  if (text.includes(":")) return text;
  throw usageError(`--bucket needs a bucket and a role, such as photos:editor, not "${text}".`);
}

export function permissionsJson({ role = undefined, buckets = {} }: Permissions) {
  return { role: role ?? null, buckets };
}
