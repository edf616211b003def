// Checks in one place that a user may use a route, before the route runs.
import { allows, type Right, roleByRight } from "./auth/roles.ts";
import { ConsoleError } from "./response.ts";
import type { Call, RouteNeeds } from "./route.ts";

/** The right that a user does not have. */
export interface MissingRight {
  readonly right: Right;
  /** Undefined if the right is needed on the whole store. */
  readonly bucket: string | undefined;
}

/** Refused for lack of a right: the handler records it in the audit log. */
export class RoleError extends ConsoleError {
  readonly missing: MissingRight;

  /** The message does not reveal whether the bucket exists. */
  constructor(missing: MissingRight) {
    const { right, bucket } = missing;
    const where = bucket === undefined ? "for the whole store" : `for the bucket "${bucket}"`;
    super(403, `Your role does not allow this: it needs ${roleByRight[right]} ${where}.`, {
      hint: "Ask an administrator to change your role.",
    });
    this.missing = missing;
  }
}

/** Throws a RoleError if the user may not use the route. */
export async function checkRight(needs: RouteNeeds, call: Call): Promise<void> {
  if (needs.on === "nothing") return;
  const { right } = needs;
  const bucket = needs.on === "store" ? undefined : await readBucket(needs.in, call);
  if (!allows(call.session.permissions, right, bucket)) throw new RoleError({ right, bucket });
}

async function readBucket(part: "query" | "body", { query, fields }: Call): Promise<string> {
  return part === "query" ? query.text("bucket") : (await fields()).text("bucket");
}
