// Route for copies, moves and renames of objects and folders: one batch per request, so that the
// page shows progress and can stop.
import type { Engine } from "../../../engine/engine.ts";
import { isStoreFault, StoreError } from "../../../model/errors.ts";
import { limits } from "../../../model/limits.ts";
import { isFields } from "../../../model/shape.ts";
import { allows } from "../../auth/roles.ts";
import { ConsoleError, json } from "../../response.ts";
import type { Call, Fields, Route } from "../../route.ts";
import { RoleError } from "../../route-check.ts";
import type { CopiedDocument, SkippedRow } from "../../wire-bucket.ts";
import { requireBucket } from "../setting-changes.ts";
import { type CopyNames, type CopyOptions, copyOne } from "./copy-object.ts";

/** Objects in one request. */
export const batchObjects = 100;
const concurrency = 4;

export function copyRoutes(engine: Engine, now: () => number): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/objects/copy",
      needs: { right: "edit", on: "bucket", in: "body" },
      // Two keys for each object.
      maxJsonBytes: 4 * batchObjects * limits.keyBytes,
      run: (call) => copyBatch(engine, call, now()),
    },
  ];
}

async function copyBatch(engine: Engine, { fields, session }: Call, now: number) {
  const given = await fields();
  const source = await requireBucket(engine, given.text("bucket"));
  const target = given.optionalText("target") ?? source.name;
  if (!allows(session.permissions, "edit", target)) throw new RoleError({ right: "edit", bucket: target });
  const [isMove, isReplaced] = [given.flag("isMove"), given.flag("isReplaced")];
  const { names, cursor } = await readNames(engine, given, source.name, target);
  const options = { source, target, isMove, isReplaced, now };
  return json({ ...(await copyAll(engine, names, options)), cursor } satisfies CopiedDocument);
}

/** Either the named objects, or the next page of a folder. */
async function readNames(engine: Engine, given: Fields, bucket: string, target: string) {
  const prefix = given.optionalText("prefix");
  if (prefix === undefined) return { names: parseNames(given), cursor: undefined };
  const to = given.text("to");
  if (bucket === target && to.startsWith(prefix))
    throw new ConsoleError(400, "A folder cannot be copied or moved into itself: choose another folder.");
  const { objects, cursor } = await engine.list(bucket, {
    ...{ prefix, limit: batchObjects, cursor: given.optionalText("cursor") },
  });
  return { names: objects.map(({ key }) => ({ from: key, to: to + key.slice(prefix.length) })), cursor };
}

function parseNames(given: Fields): CopyNames[] {
  const names = given.list("names") ?? [];
  if (names.length > batchObjects)
    throw new ConsoleError(400, `Copy at most ${batchObjects} objects in one request.`);
  return names.map((name) => {
    if (isFields(name) && typeof name.from === "string" && typeof name.to === "string")
      return { from: name.from, to: name.to };
    throw new ConsoleError(400, 'Each of "names" must have the strings "from" and "to".');
  });
}

async function copyAll(engine: Engine, names: readonly CopyNames[], options: CopyOptions) {
  const skipped: SkippedRow[] = [];
  let [copied, bytes, next] = [0, 0, 0];
  async function work(): Promise<void> {
    for (let name = names[next++]; name !== undefined; name = names[next++]) {
      try {
        bytes += await copyOne(engine, name, options);
        copied++;
      } catch (error) {
        skipped.push({ key: name.from, message: toReason(error) });
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return { copied, bytes, skipped };
}

/** An error of one object is reported, and the others are copied. A fault of the store ends all. */
function toReason(error: unknown): string {
  if (error instanceof ConsoleError) return error.message;
  if (error instanceof StoreError && !isStoreFault(error)) return error.detail;
  throw error;
}
