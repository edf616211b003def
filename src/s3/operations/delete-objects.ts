// DeleteObjects: deletes up to 1,000 keys or versions in one request, with a result for each.
import { setImmediate as nextTurn } from "node:timers/promises";
import { isUnderPolicy } from "../../access/decide.ts";
import { createWork } from "../../access/policy/work.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Condition } from "../../model/condition.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import { type DeleteMarker, isDeleteMarker, versionId } from "../../model/version.ts";
import { type AccessContext, canRemoveProtection, decideAccess } from "../auth/authorize.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answerXml, type Call, type S3Response } from "../call.ts";
import { errorCodeByReason, S3Error } from "../errors.ts";
import { elementCondition, preconditionFailed } from "../headers/conditions.ts";
import { isBypassRequested, readBypass } from "../headers/lock.ts";
import { isVersionId } from "../headers/versions.ts";
import { type ConditionalDeletion, deleteVersions } from "./delete-versions.ts";

interface ObjectToDelete {
  readonly key: string;
  readonly version: string | undefined;
  readonly condition: Condition | undefined;
}

type Result =
  | { readonly kind: "deleted"; readonly markerId?: string | undefined }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

type Results = Map<ObjectToDelete, Result>;

export async function deleteObjects(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload, caller, bucket } = call;
  // A policy may allow it for some keys only, so that it is decided for each key.
  const isDecidedByKey = bucket !== undefined && isUnderPolicy(caller, bucket);
  const bypassGovernance = isDecidedByKey ? isBypassRequested(request) : await readBypass(call);
  const bytes = await readWholePayload(payload, 4 * 1024 * 1024);
  checkDocument(request, payload, bytes);
  const document = readXml(bytes, "Delete");
  const isQuiet = childText(document, "Quiet")?.trim().toLowerCase() === "true";
  const requested = findChildren(document, "Object").map(readObject);
  if (requested.length === 0 || requested.length > limits.deleteKeys) throw new S3Error("MalformedXML");
  const unique = new Map(requested.map((one) => [nameOf(one), one]));
  const targets = [...unique.values()];
  const results: Results = new Map();
  await refuseDenied(call, targets, results);
  const accepted = targets.filter((one) => !results.has(one));
  await deleteCurrent(engine, operation.bucket, accepted, results);
  const versions = accepted.flatMap((one) => (isVersionNamed(one) ? [one] : []));
  const deletions = await deleteVersions(engine, operation.bucket, versions, bypassGovernance);
  for (const [i, deletion] of deletions.entries()) results.set(versions[i]!, toResult(deletion));
  return answerXml(
    "DeleteResult",
    requested.flatMap((one) => resultElement(one, results.get(unique.get(nameOf(one))!)!, isQuiet)),
  );
}

/** A target that is named many times is decided and deleted once. */
function nameOf({ key, version, condition }: ObjectToDelete): string {
  return JSON.stringify([key, version, condition]);
}

function isVersionNamed(one: ObjectToDelete): one is ObjectToDelete & { readonly version: string } {
  return one.version !== undefined;
}

/** Deletes the keys without a version. In a versioned bucket, each gets a delete marker. */
async function deleteCurrent(
  engine: Engine,
  bucket: string,
  accepted: readonly ObjectToDelete[],
  results: Results,
): Promise<void> {
  const current = accepted.filter(({ version }) => version === undefined);
  const unconditional = current.filter(({ condition }) => condition === undefined);
  const isDone = unconditional.length > 0 && (await deleteTogether(engine, bucket, unconditional, results));
  const separate = isDone ? current.filter(({ condition }) => condition !== undefined) : current;
  // One by one, so that a failed condition or a lock affects only its key.
  for (const [i, one] of separate.entries()) {
    if (i > 0 && i % targetsPerTurn === 0) await nextTurn();
    try {
      const [marker] = await engine.delete(bucket, [one.key], { condition: one.condition });
      results.set(one, hidden(marker));
    } catch (error) {
      results.set(one, toRefusal(error));
    }
  }
}

/**
 * Deletes all objects in one commit. Returns false, and deletes none, if one of them is locked or gets
 * no delete marker because of a quota.
 */
async function deleteTogether(
  engine: Engine,
  bucket: string,
  objects: readonly ObjectToDelete[],
  results: Results,
): Promise<boolean> {
  const keys = objects.map(({ key }) => key);
  try {
    const markers = new Map((await engine.delete(bucket, keys)).map((marker) => [marker.key, marker]));
    for (const one of objects) results.set(one, hidden(markers.get(one.key)));
    return true;
  } catch (error) {
    const isAboutKey =
      error instanceof StoreError && ["AccessDenied", "QuotaExceeded"].includes(error.reason);
    if (isAboutKey) return false;
    throw error;
  }
}

function hidden(marker: DeleteMarker | undefined): Result {
  return { kind: "deleted", markerId: marker && versionId(marker) };
}

function toResult(deletion: ConditionalDeletion): Result {
  switch (deletion.outcome) {
    case "deleted": {
      const { version } = deletion;
      return { kind: "deleted", markerId: isDeleteMarker(version) ? versionId(version) : undefined };
    }
    case "missing":
      return { kind: "deleted" };
    case "locked":
      return { kind: "refused", code: "AccessDenied", message: deletion.message };
    case "refused": {
      const { code, message } = preconditionFailed(deletion.clause);
      return { kind: "refused", code, message };
    }
  }
}

function readObject(node: XmlNode): ObjectToDelete {
  // Keys are never trimmed: spaces are part of a key.
  const key = childText(node, "Key");
  if (key === undefined || key === "") throw new S3Error("MalformedXML");
  const condition = elementCondition((name) => childText(node, name)?.trim());
  return { key, version: childText(node, "VersionId")?.trim() || undefined, condition };
}

function findRefusal({ key, version }: ObjectToDelete): Result | undefined {
  if (version !== undefined && !isVersionId(version)) {
    return { kind: "refused", code: "NoSuchVersion", message: "The specified version does not exist." };
  }
  try {
    checkKey(key);
    return undefined;
  } catch (error) {
    return toRefusal(error);
  }
}

/** Targets after which other requests run, and units of policy evaluation after which they run earlier. */
const targetsPerTurn = 64;
const unitsPerTurn = 250_000;

/**
 * Refuses the targets that the caller may not delete. All decisions share one budget: the targets
 * that exceed it are denied.
 */
async function refuseDenied(call: Call, targets: readonly ObjectToDelete[], results: Results): Promise<void> {
  const work = createWork();
  const context = { ...call, work };
  let [decided, spent] = [0, 0];
  for (const one of targets) {
    if (decided === targetsPerTurn || work.spent() - spent > unitsPerTurn) {
      await nextTurn();
      [decided, spent] = [0, work.spent()];
    }
    decided++;
    const refusal = findRefusal(one) ?? (await findDenial(context, one));
    if (refusal !== undefined) results.set(one, refusal);
  }
}

async function findDenial(
  context: Call & AccessContext,
  { key, version }: ObjectToDelete,
): Promise<Result | undefined> {
  const bucket = context.bucket!;
  const decision = await decideAccess(context, bucket, { name: "DeleteObject", key, version });
  const needsBypass =
    version !== undefined && isUnderPolicy(context.caller, bucket) && isBypassRequested(context.request);
  const canBypass = !needsBypass || (await canRemoveProtection(context, bucket, { key, version }));
  if (decision === "allowed" && canBypass) return undefined;
  return { kind: "refused", code: "AccessDenied", message: "Access Denied" };
}

const keyErrors: readonly string[] = [
  ...["AccessDenied", "PreconditionFailed", "NoSuchKey", "KeyTooLongError", "QuotaExceeded"],
];

/** Converts an error of one key to its result. Throws errors that concern the whole request. */
function toRefusal(error: unknown): Result {
  if (!(error instanceof StoreError)) throw error;
  const code = errorCodeByReason[error.reason];
  if (!keyErrors.includes(code)) throw error;
  return { kind: "refused", code, message: error.detail };
}

function resultElement({ key, version }: ObjectToDelete, result: Result, isQuiet: boolean): XmlElement[] {
  const name: readonly XmlElement[] = [
    ["Key", key],
    ["VersionId", version],
  ];
  if (result.kind === "refused") {
    return [["Error", [...name, ["Code", result.code], ["Message", result.message]]]];
  }
  if (isQuiet) return [];
  const { markerId } = result;
  const marker: readonly XmlElement[] =
    markerId === undefined
      ? []
      : [
          ["DeleteMarker", true],
          ["DeleteMarkerVersionId", markerId],
        ];
  return [["Deleted", [...name, ...marker]]];
}
