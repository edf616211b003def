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

/** Undefined if the user may use the route. */
export async function findMissingRight(needs: RouteNeeds, call: Call): Promise<MissingRight | undefined> {
  if (needs.on === "nothing") return undefined;
  const { right } = needs;
  const bucket = needs.on === "store" ? undefined : await readBucket(needs.in, call);
  return allows(call.session.permissions, right, bucket) ? undefined : { right, bucket };
}

async function readBucket(part: "query" | "body", { query, fields }: Call): Promise<string> {
  return part === "query" ? query.text("bucket") : (await fields()).text("bucket");
}

/** The message does not reveal whether the bucket exists. */
export function roleError({ right, bucket }: MissingRight): ConsoleError {
  const where = bucket === undefined ? "for the whole store" : `for the bucket "${bucket}"`;
  return new ConsoleError(403, `Your role does not allow this: it needs ${roleByRight[right]} ${where}.`, {
    hint: "Ask an administrator to change your role.",
  });
}
