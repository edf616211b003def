// Routes for the lock of one object: its retention and its legal hold. Both need the right to
// administer the bucket, because they also remove what protects an object.
import type { Engine } from "../../../engine/engine.ts";
import type { Bucket } from "../../../model/bucket.ts";
import type { Retention } from "../../../model/lock.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { ConsoleError, noContent } from "../../response.ts";
import { type Fields, maxTime, type Route } from "../../route.ts";
import type { ObjectLockDocument } from "../../wire-types.ts";

const needs = { right: "administer", on: "bucket", in: "body" } as const;

export function objectLockRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "PUT",
      path: "/api/object/retention",
      needs,
      async run({ fields }) {
        const given = await fields();
        const target = { version: given.text("version"), bypassGovernance: given.flag("bypassGovernance") };
        await engine.setRetention(given.text("bucket"), given.text("key"), parseRetention(given), target);
        return noContent();
      },
    },
    {
      method: "PUT",
      path: "/api/object/legal-hold",
      needs,
      async run({ fields }) {
        const given = await fields();
        const target = { version: given.text("version") };
        await engine.setLegalHold(given.text("bucket"), given.text("key"), given.flag("isOnHold"), target);
        return noContent();
      },
    },
  ];
}

/** Returns undefined if the retention is to be removed. */
function parseRetention(given: Fields): Retention | undefined {
  const retention = given.object("retention");
  if (retention === undefined) return undefined;
  const { mode, until } = retention;
  const isMode = mode === "governance" || mode === "compliance";
  if (isMode && typeof until === "number" && until > 0 && until <= maxTime) return { mode, until };
  throw new ConsoleError(400, "A retention has a mode, governance or compliance, and an end.");
}

/** Undefined if objects of the bucket cannot be locked. */
export function toObjectLockDocument(
  { lock }: ObjectRecord,
  bucket: Bucket | undefined,
): ObjectLockDocument | undefined {
  if (bucket?.settings.objectLock === undefined) return undefined;
  return { retention: lock?.retention ?? null, isOnHold: lock?.legalHold === true };
}
