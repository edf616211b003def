// Roles of the console's users, on the whole store or on single buckets, and the rights they give.
import { isFields } from "../../model/shape.ts";

/** In rising order: each role may do everything that the roles before it may do. */
export const roles = ["viewer", "editor", "administrator"] as const;
export type Role = (typeof roles)[number];

export type Right = "view" | "edit" | "administer";

/** What a user or token may do. A bucket's role adds to the role on the whole store. */
export interface Permissions {
  readonly role?: Role | undefined;
  /** Roles by bucket name. */
  readonly buckets?: Readonly<Record<string, Role>> | undefined;
}

/** The least role that has the right. */
export const roleByRight: Readonly<Record<Right, Role>> = {
  view: "viewer",
  edit: "editor",
  administer: "administrator",
};

export const fullPermissions: Permissions = { role: "administrator" };

/** Without a bucket, checks the right on the whole store. */
export function allows({ role, buckets = {} }: Permissions, right: Right, bucket?: string): boolean {
  const needed = roles.indexOf(roleByRight[right]);
  const has = (given: Role | undefined) => given !== undefined && roles.indexOf(given) >= needed;
  if (has(role)) return true;
  return bucket !== undefined && Object.hasOwn(buckets, bucket) && has(buckets[bucket]);
}

export function isRole(value: unknown): value is Role {
  return roles.some((role) => role === value);
}

/** Whether a stored value is a set of permissions: anything else must not give a right. */
export function isPermissions(value: unknown): value is Permissions {
  if (!isFields(value)) return false;
  const { role, buckets = {} } = value;
  return (role === undefined || isRole(role)) && isFields(buckets) && Object.values(buckets).every(isRole);
}

/** Throws a RangeError. */
export function parseRole(text: string): Role {
  if (isRole(text)) return text;
  throw new RangeError(`The role must be viewer, editor or administrator, not "${text}".`);
}

/** Parses `administrator` or `photos:editor`; throws a RangeError. */
export function parsePermission(text: string): Permissions {
  const colon = text.lastIndexOf(":");
  if (colon === -1) return { role: parseRole(text) };
  const bucket = text.slice(0, colon);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new RangeError(`"${text}" must have the form BUCKET:ROLE, such as photos:editor.`);
  return { buckets: { [bucket]: parseRole(text.slice(colon + 1)) } };
}

/** Adds up permissions. Of several roles on the same bucket, the highest counts. */
export function mergePermissions(all: readonly Permissions[]): Permissions {
  let role: Role | undefined;
  const buckets = new Map<string, Role>();
  for (const one of all) {
    role = higherRole(role, one.role);
    for (const [bucket, given] of Object.entries(one.buckets ?? {}))
      buckets.set(bucket, higherRole(buckets.get(bucket), given)!);
  }
  return {
    ...(role === undefined ? {} : { role }),
    ...(buckets.size === 0 ? {} : { buckets: Object.fromEntries(buckets) }),
  };
}

function higherRole(a: Role | undefined, b: Role | undefined): Role | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return roles.indexOf(a) >= roles.indexOf(b) ? a : b;
}

export function hasNoPermissions({ role, buckets = {} }: Permissions): boolean {
  return role === undefined && Object.keys(buckets).length === 0;
}

/** `editor; photos: administrator`. */
export function formatPermissions({ role, buckets = {} }: Permissions): string {
  const own = Object.entries(buckets).map(([bucket, given]) => `${bucket}: ${given}`);
  return [...(role === undefined ? [] : [role]), ...own].join("; ") || "none";
}
