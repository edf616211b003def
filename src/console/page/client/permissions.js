// What the signed-in user may do. The server checks every request; the page only hides and disables.

/** @import { Right, Role } from "../../auth/roles.ts" */
/** @import { SessionDocument } from "../../wire-session.ts" */

/** @type {Readonly<Record<Role, readonly Right[]>>} */
const rights = {
  viewer: ["view"],
  editor: ["view", "edit"],
  administrator: ["view", "edit", "administer"],
};

/** @type {Pick<SessionDocument, "role" | "buckets">} */
let current = { role: null, buckets: {} };

/** @param {SessionDocument} session */
export function setPermissions(session) {
  current = session;
}

/**
 * @param {Right} right
 * @param {string} [bucket] missing: on the whole store
 */
export function may(right, bucket) {
  const own = bucket !== undefined && Object.hasOwn(current.buckets, bucket) ? current.buckets[bucket] : null;
  return [current.role, own ?? null].some((role) => role !== null && rights[role].includes(right));
}

/**
 * @param {Role | null} role
 * @param {Readonly<Record<string, Role>>} buckets
 */
export function describeRoles(role, buckets) {
  const own = Object.entries(buckets).map(([bucket, one]) => `${bucket}: ${one}`);
  return [...(role === null ? [] : [role]), ...own].join(", ");
}
