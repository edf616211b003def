// Applies changes inside the writer's transaction: first all checks of a change, then, if all hold,
// its mutations. Blobs that lose their last reference are added to the garbage queue.
import { mutationsOfObjects } from "../../engine/records.ts";
import { type Protection, protectionNames } from "../../model/bucket.ts";
import { refuseKind } from "../../model/errors.ts";
import { formatRules, parseRules } from "../../model/settings/rule-list.ts";
import { existenceKey } from "../index/existence-index.ts";
import { parseDeletedMark } from "../index/schema.ts";
import { corruptionError, type Database } from "../index/sqlite.ts";
import { withTextChecksum } from "../rows/checksum.ts";
import { isSoundPart } from "../rows/object-row.ts";
import { ownedParts } from "../rows/stored-body.ts";
import { storedEvent } from "../rows/stored-event.ts";
import { createBodies } from "./apply-bodies.ts";
import { createHistory } from "./apply-history.ts";
import { createObjectRows } from "./apply-objects.ts";
import { prepareApplyStatements } from "./apply-statements.ts";
import {
  noProtection,
  type WireChange,
  type WireCheck,
  type WireMutation,
  type WireObject,
} from "./change.ts";
import { createQuotaGuard } from "./quota.ts";
import { createTally, createTotalsUpdate, resetTally } from "./tally.ts";

export interface Applier {
  /** Whether any process has deleted the bucket. Call it in each transaction before `apply`. */
  isDeleted(): boolean;
  /** Applies each change in order, completely or not at all. */
  apply(changes: readonly WireChange[]): ("committed" | "conflict" | "over quota")[];
}

/** Whether a mutation depends on the bucket's protection. */
const isProtected: Readonly<Record<WireMutation["kind"], boolean>> = {
  ...mutationsOfObjects,
  "add event": false,
  "move body": false,
  "ack events": false,
  "ack garbage": false,
};

export function createApplier(database: Database): Applier {
  const sql = prepareApplyStatements(database);
  const tally = createTally();
  const updateTotals = createTotalsUpdate(database);
  const bodies = createBodies(sql);
  const objects = createObjectRows(sql, bodies, tally);
  const history = createHistory({ database, sql, bodies, objects, tally });
  const quota = createQuotaGuard(sql, tally);
  /** The stored texts of the settings, as of the current transaction. */
  const protection: { -readonly [name in keyof Protection]-?: unknown } = { ...noProtection };

  /** A bucket that was never versioned has no history, so its changes need no further lookups. */
  function hasHistory(): boolean {
    return protection.versioning !== noProtection.versioning;
  }

  function isAllowed(change: WireChange): boolean {
    if (!change.mutations.some(({ kind }) => isProtected[kind])) return true;
    const expected = change.protection ?? noProtection;
    return protectionNames.every((name) => protection[name] === expected[name]);
  }

  function isSatisfied(check: WireCheck): boolean {
    if (check.kind === "object") {
      const row = sql.findVersion.get(check.key);
      if (row !== undefined) return row.version === check.version;
      // A key in the existence index without a row was lost. Report a conflict: the caller then
      // reads again and gets the damage error.
      return (
        check.version === undefined && sql.findExistence.get(existenceKey.object(check.key)) === undefined
      );
    }
    if (check.kind === "version") return history.hasRecord(check.key, check.version, check.text);
    if (check.kind === "setting") return sql.findSetting[check.name].get()?.text === check.text;
    if (check.kind !== "upload") return refuseKind(check);
    const row = sql.findUpload.get(check.key, check.id);
    return row?.active === 1 && (check.revision === undefined || check.revision === row.revision);
  }

  function putObject(put: WireObject): void {
    if (hasHistory()) history.put(put);
    else objects.replace(put, objects.find(put.key));
  }

  function restateObject(put: WireObject): void {
    if (hasHistory()) history.restate(put);
    else objects.restate(put, put.blob === undefined ? undefined : objects.find(put.key));
  }

  function replaceBody(put: WireObject): void {
    if (put.manifest !== undefined) {
      const [, parts] = ownedParts(put.manifest, "the list of parts of a replaced body");
      for (const { blob } of parts) bodies.insertBlob(blob.id, null);
    }
    if (hasHistory()) history.replaceBody(put);
    else objects.replace(put, objects.find(put.key));
  }

  function endParts(uploadId: string, taken: readonly number[]): void {
    const takenNumbers = new Set(taken);
    for (const row of sql.listParts.all(uploadId)) {
      if (!takenNumbers.has(row.number) && isSoundPart(uploadId, row)) bodies.enqueueGarbage(row.blob);
    }
    sql.deleteParts.run(uploadId);
    sql.deletePartsExistence.run(existenceKey.part(uploadId, 0), existenceKey.afterParts(uploadId));
  }

  function ackEvent(entry: number, rule: string | undefined): void {
    const row = rule === undefined ? undefined : sql.findEvent.get(entry);
    const others = formatRules(parseRules(String(row?.rule ?? "")).filter((one) => one !== rule));
    const text = row === undefined || others === "" ? undefined : storedEvent(row);
    if (text === undefined) sql.deleteEvent.run(entry);
    else sql.updateEvent.run(others, withTextChecksum(text, others), entry);
  }

  function mutate(mutation: WireMutation): void {
    switch (mutation.kind) {
      case "put object":
        putObject(mutation);
        return;
      case "put copy":
        history.putCopy(mutation);
        return;
      case "put marker":
        history.putMarker(mutation);
        return;
      case "delete version":
        history.deleteVersion(mutation.key, mutation.version);
        return;
      case "restate object":
        restateObject(mutation);
        return;
      case "replace body":
        replaceBody(mutation);
        return;
      case "put setting":
        sql.putSetting[mutation.name].run(mutation.text);
        if (mutation.name === "versioning" || mutation.name === "lockRules")
          protection[mutation.name] = mutation.text;
        else if (mutation.name === "quota") quota.setQuota(mutation.text);
        return;
      case "add event":
        if (mutation.ifExists === undefined) sql.insertEvent.run(mutation.rule, mutation.event);
        else sql.insertEventIfObject.run(mutation.rule, mutation.event, mutation.ifExists);
        return;
      case "ack events":
        for (const entry of mutation.entries) ackEvent(entry, mutation.rule);
        return;
      case "delete object":
        objects.remove(mutation.key, objects.find(mutation.key));
        return;
      case "put upload": {
        const { key, id, active, due, record } = mutation;
        sql.putUpload.run(key, id, active ? 1 : 0, due, record);
        bodies.insertExistence(existenceKey.upload(key, id));
        return;
      }
      case "delete upload":
        endParts(mutation.id, []);
        sql.deleteUpload.run(mutation.key, mutation.id);
        bodies.deleteExistence(existenceKey.upload(mutation.key, mutation.id));
        return;
      case "put part": {
        const { uploadId, number, blob, record } = mutation;
        const replaced = sql.findPart.get(uploadId, number);
        if (replaced !== undefined && isSoundPart(uploadId, replaced)) bodies.enqueueGarbage(replaced.blob);
        bodies.insertBlob(blob, null);
        sql.putPart.run(uploadId, number, blob, record);
        bodies.insertExistence(existenceKey.part(uploadId, number));
        sql.touchUpload.run(uploadId);
        return;
      }
      case "end parts":
        endParts(mutation.uploadId, mutation.taken);
        return;
      case "ack garbage":
        for (const entry of mutation.entries) {
          sql.deleteGarbageManifest.run(entry);
          sql.deleteGarbage.run(entry);
        }
        for (const blob of mutation.blobs) bodies.deleteBlob(blob);
        return;
      case "move body":
        history.moveBody(mutation.key, mutation.from, mutation.to);
        return;
      default:
        refuseKind(mutation);
    }
  }

  function mutateAll({ mutations }: WireChange): void {
    for (const mutation of mutations) mutate(mutation);
  }

  return {
    isDeleted() {
      const row = sql.bucket.get();
      const isDeleted = parseDeletedMark(row?.deleted);
      if (isDeleted === undefined) throw corruptionError("The deletion mark of the bucket");
      for (const name of protectionNames) protection[name] = row?.[name];
      quota.setQuota(row?.quota);
      return isDeleted;
    },
    apply(changes) {
      resetTally(tally);
      quota.begin();
      const outcomes = changes.map((change) => {
        if (!isAllowed(change) || !change.checks.every(isSatisfied)) return "conflict";
        return quota.apply(change, mutateAll) ? "committed" : "over quota";
      });
      updateTotals(tally);
      return outcomes;
    },
  };
}
