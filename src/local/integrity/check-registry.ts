// Compares the registry with its existence index in both directions, and with the bucket folders.
import { readdirSync } from "node:fs";
import type { Finding } from "../../engine/records.ts";
import type { Layout } from "../disk/layout.ts";
import { toDocument } from "../documents.ts";
import { createRegistryReader } from "../index/bucket-registry.ts";
import { existenceKey, inSnapshot, parseExistenceKey } from "../index/existence-index.ts";
import { isOrphaned } from "../index/orphaned-buckets.ts";
import { type Database, toDamageError } from "../index/sqlite.ts";
import type { DocumentRow } from "../rows/checksummed-rows.ts";
import { checkPageIntegrity } from "./check-database.ts";

export function checkRegistry(layout: Layout, registry: Database): Finding[] {
  const checks = [checkPageIntegrity, checkExistenceIndex, checkBuckets, checkDocuments, checkRevisions];
  const findings = checks.flatMap((check) => attempt(() => inSnapshot(registry, () => check(registry))));
  return [...findings, ...attempt(() => checkFolders(layout, registry))];
}

function attempt(find: () => Finding[]): Finding[] {
  try {
    return find();
  } catch (error) {
    return [{ what: toDamageError(error, "the registry").detail }];
  }
}

function checkExistenceIndex(registry: Database): Finding[] {
  const bucket = registry.prepare("SELECT 1 FROM buckets WHERE name = ? AND id = ?");
  const document = registry.prepare("SELECT 1 FROM documents WHERE kind = ? AND name = ?");
  const rows = registry.prepare<{ place: unknown; id: string }>("SELECT place, id FROM witness").all();
  return rows.flatMap(({ place: indexKey, id }) => {
    const entry = indexKey instanceof Uint8Array ? parseExistenceKey(indexKey) : undefined;
    if (entry?.kind === "bucket") {
      if (bucket.get(entry.name, id) !== undefined) return [];
      return [{ bucket: entry.name, what: describeMissing(`bucket "${entry.name}"`) }];
    }
    if (entry?.kind === "document") {
      if (document.get(entry.documentKind, entry.name) !== undefined) return [];
      return [{ what: describeMissing(`the document "${entry.name}" (${entry.documentKind})`) }];
    }
    return [{ what: "The stored data is damaged: an entry of the registry's existence index." }];
  });
}

function describeMissing(what: string): string {
  return `The stored data is damaged: ${what} is missing from the registry.`;
}

function describeUnindexed(what: string): string {
  return `The stored data is damaged: ${what} is missing from the registry's existence index.`;
}

function checkBuckets(registry: Database): Finding[] {
  const names = registry.prepare<{ name: string }>("SELECT name FROM buckets ORDER BY name").all();
  const reader = createRegistryReader(registry);
  const findExistence = registry.prepare("SELECT 1 FROM witness WHERE place = ?");
  return names.flatMap(({ name }) => {
    const findings = attempt(() => {
      reader.find(name);
      return [];
    }).map((finding) => ({ ...finding, bucket: name }));
    if (findExistence.get(existenceKey.bucket(name)) !== undefined) return findings;
    return [...findings, { bucket: name, what: describeUnindexed(`bucket "${name}"`) }];
  });
}

function checkDocuments(registry: Database): Finding[] {
  const rows = registry.prepare<DocumentRow>("SELECT kind, name, text, revision FROM documents").all();
  const findExistence = registry.prepare("SELECT 1 FROM witness WHERE place = ?");
  return rows.flatMap((row) => {
    const findings = attempt(() => {
      toDocument(row);
      return [];
    });
    if (findExistence.get(existenceKey.document(row.kind, row.name)) !== undefined) return findings;
    return [...findings, { what: describeUnindexed(`the document "${row.name}" (${row.kind})`) }];
  });
}

function checkRevisions(registry: Database): Finding[] {
  const row = registry
    .prepare<{ hold: number }>(
      "SELECT count(*) = 1 AND max(last) >= (SELECT coalesce(max(revision), 0) FROM documents) AS hold FROM revisions",
    )
    .get();
  return row?.hold === 1 ? [] : [{ what: "The stored data is damaged: the counter of revisions." }];
}

/** Finds bucket folders that are not in the registry, except empty folders left by a crash. */
function checkFolders(layout: Layout, registry: Database): Finding[] {
  const before = new Set(readdirSync(layout.buckets));
  const registeredIds = createRegistryReader(registry).ids();
  return [...before]
    .filter(
      (id) => !registeredIds.has(id) && readdirSync(layout.buckets).includes(id) && !isOrphaned(layout, id),
    )
    .map((id) => ({
      what: `The stored data is damaged: buckets/${id} holds a bucket that the registry does not name.`,
    }));
}
