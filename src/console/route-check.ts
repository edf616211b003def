// Checks in one place that a user may use a route, before the route runs.
import { allows, type Right, roleByRight } from "./auth/roles.ts";
import { ConsoleError } from "./response.ts";
import type { Call, RouteNeeds } from "./route.ts";

/** Throws ConsoleError 403. Does not reveal whether the bucket exists. */
export async function checkRight(needs: RouteNeeds, call: Call): Promise<void> {
  if (needs.on === "nothing") return;
  const bucket = needs.on === "store" ? undefined : await readBucket(needs.in, call);
  if (!allows(call.session.permissions, needs.right, bucket)) throw refusal(needs.right, bucket);
}

async function readBucket(part: "query" | "body", { query, fields }: Call): Promise<string> {
  return part === "query" ? query.text("bucket") : (await fields()).text("bucket");
}

function refusal(right: Right, bucket: string | undefined): ConsoleError {
  const where = bucket === undefined ? "for the whole store" : `for the bucket "${bucket}"`;
  return new ConsoleError(403, `Your role does not allow this: it needs ${roleByRight[right]} ${where}.`, {
    hint: "Ask an administrator to change your role.",
  });
}
