// Looks at the registry from both sides, and at the folders of buckets beside it.
import { readdirSync } from "node:fs";
import type { Finding } from "../../engine/records.ts";
import type { Layout } from "../disk/layout.ts";
import { documentOf } from "../documents.ts";
import { createRegistryReader } from "../index/bucket-registry.ts";
import type { DocumentRow } from "../index/checksummed-rows.ts";
import { inSnapshot, readWitness, witnessPlace } from "../index/existence-index.ts";
import { isAbandoned } from "../index/orphaned-buckets.ts";
import { type Database, damageOf } from "../index/sqlite.ts";
import { auditPages } from "./check-bucket.ts";

export function auditRegistry(layout: Layout, registry: Database): Finding[] {
  const checks = [auditPages, fromWitness, auditBuckets, auditDocuments, auditRevisions];
  const findings = checks.flatMap((check) => attempt(() => inSnapshot(registry, () => check(registry))));
  return [...findings, ...attempt(() => auditFolders(layout, registry))];
}

function attempt(find: () => Finding[]): Finding[] {
  try {
    return find();
  } catch (error) {
    return [{ what: damageOf(error, "the registry").detail }];
  }
}

function rowsOf<T>(registry: Database, sql: string): T[] {
  return registry.prepare(sql).all() as unknown as T[];
}

function fromWitness(registry: Database): Finding[] {
  const bucket = registry.prepare("SELECT 1 FROM buckets WHERE name = ? AND id = ?");
  const document = registry.prepare("SELECT 1 FROM documents WHERE kind = ? AND name = ?");
  const rows = rowsOf<{ place: unknown; id: string }>(registry, "SELECT place, id FROM witness");
  return rows.flatMap(({ place, id }) => {
    const witness = place instanceof Uint8Array ? readWitness(place) : undefined;
    if (witness?.kind === "bucket") {
      if (bucket.get(witness.name, id) !== undefined) return [];
      return [{ bucket: witness.name, what: missing(`bucket "${witness.name}"`) }];
    }
    if (witness?.kind === "document") {
      if (document.get(witness.of, witness.name) !== undefined) return [];
      return [{ what: missing(`the document "${witness.name}" (${witness.of})`) }];
    }
    return [{ what: "The stored data is damaged: an entry of the registry's second witness." }];
  });
}

function missing(what: string): string {
  return `The stored data is damaged: ${what} is missing from the registry.`;
}

function unnamed(what: string): string {
  return `The stored data is damaged: ${what} is missing from the registry's second witness.`;
}

function auditBuckets(registry: Database): Finding[] {
  const names = rowsOf<{ name: string }>(registry, "SELECT name FROM buckets ORDER BY name");
  const reader = createRegistryReader(registry);
  const witnessed = registry.prepare("SELECT 1 FROM witness WHERE place = ?");
  return names.flatMap(({ name }) => {
    const findings = attempt(() => {
      reader.find(name);
      return [];
    }).map((finding) => ({ ...finding, bucket: name }));
    if (witnessed.get(witnessPlace.bucket(name)) !== undefined) return findings;
    return [...findings, { bucket: name, what: unnamed(`bucket "${name}"`) }];
  });
}

function auditDocuments(registry: Database): Finding[] {
  const rows = rowsOf<DocumentRow>(registry, "SELECT kind, name, text, revision FROM documents");
  const witnessed = registry.prepare("SELECT 1 FROM witness WHERE place = ?");
  return rows.flatMap((row) => {
    const findings = attempt(() => {
      documentOf(row);
      return [];
    });
    if (witnessed.get(witnessPlace.document(row.kind, row.name)) !== undefined) return findings;
    return [...findings, { what: unnamed(`the document "${row.name}" (${row.kind})`) }];
  });
}

function auditRevisions(registry: Database): Finding[] {
  const [row] = rowsOf<{ hold: number }>(
    registry,
    "SELECT count(*) = 1 AND max(last) >= (SELECT coalesce(max(revision), 0) FROM documents) AS hold FROM revisions",
  );
  return row?.hold === 1 ? [] : [{ what: "The stored data is damaged: the count of revisions." }];
}

/** A folder that the registry does not name, and that is not just what a crash has left of one. */
function auditFolders(layout: Layout, registry: Database): Finding[] {
  const before = new Set(readdirSync(layout.buckets));
  const known = createRegistryReader(registry).ids();
  return [...before]
    .filter((id) => !known.has(id) && readdirSync(layout.buckets).includes(id) && !isAbandoned(layout, id))
    .map((id) => ({
      what: `The stored data is damaged: buckets/${id} holds a bucket that the registry does not name.`,
    }));
}
