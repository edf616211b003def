// Copies the documents outside of buckets, and manages the document that marks a store as the
// target of a copy.
import type { Document } from "../engine/records.ts";
import { CopyError } from "../model/copy.ts";
import type { CopyContext, Side } from "./context.ts";

export const copiedKinds = [
  "secret",
  "credential",
  "own access key",
  "role",
  "role signing key",
  "notified bucket",
  "public bucket",
  "public domain",
  "console token",
  "console user",
  "console share link",
  "bucket share link",
  "account quota",
  "encryption",
] as const;
/**
 * Kinds that are valid in one store only: maintenance state, sessions, use of keys and tokens, audit
 * entries, the history of metrics, the latest backup, and the copy marker.
 */
export const uncopiedKinds = [
  "housekeeping",
  "copy",
  "delivery lease",
  "delivery progress",
  "console session",
  "session of opener",
  "console sign-in",
  "console archive",
  "console archive index",
  "console token use",
  "credential use",
  "act",
  "audit",
  "audit head",
  "server",
  "metrics history",
  "bucket metrics history",
  "backup",
] as const;

export interface DocumentPair {
  readonly kind: string;
  readonly name: string;
  readonly source: Document | undefined;
  readonly target: Document | undefined;
}

/** Pairs the documents of both sides by kind and name. */
export async function* pairDocuments({ from, to }: CopyContext): AsyncGenerator<DocumentPair> {
  for (const kind of copiedKinds) {
    const sources = byName(await from.records.documents.list(kind));
    const targets = byName(await to.records.documents.list(kind));
    for (const name of new Set([...sources.keys(), ...targets.keys()])) {
      yield { kind, name, source: sources.get(name), target: targets.get(name) };
    }
  }
}

function byName(documents: readonly Document[]): ReadonlyMap<string, Document> {
  return new Map(documents.map((document) => [document.name, document]));
}

export async function copyDocuments(context: CopyContext): Promise<void> {
  const { documents } = context.to.records;
  for await (const { kind, name, source, target } of pairDocuments(context)) {
    if (source?.text === target?.text) continue;
    if (source === undefined) await documents.delete(kind, name);
    else if ((await documents.put(kind, name, source.text, target?.revision)) === "conflict") {
      throw new CopyError("Another process is writing to the target.", [
        "Stop every process that uses the target, then run the same copy again.",
      ]);
    }
  }
}

const kind = "copy";
const name = "target";

interface Marker {
  /** Description of the source, without passwords. */
  readonly source: string;
  /** Time when the copy was completed, in milliseconds since the epoch. */
  readonly ended?: number;
}

async function readMarker({ records }: Side): Promise<Marker | undefined> {
  const document = await records.documents.get(kind, name);
  return document && (JSON.parse(document.text) as Marker);
}

/** Returns the source of an unfinished copy into this store. Such a store must not be used. */
export async function unfinishedCopy(side: Side): Promise<string | undefined> {
  const marker = await readMarker(side);
  return marker === undefined || marker.ended !== undefined ? undefined : marker.source;
}

/**
 * Refuses a target that contains anything other than an unfinished copy of the same source, or with
 * "update" a completed one.
 */
export async function claimTarget(to: Side, source: string, existing?: "update"): Promise<void> {
  const state = await checkTarget(to, source, existing);
  // Until a copy is complete, or complete again, nothing else may open the target.
  if (state !== "unfinished") await writeMarker(to, { source });
}

/** Like `claimTarget`, but changes nothing. */
export async function checkTarget(
  to: Side,
  source: string,
  existing?: "update",
): Promise<"empty" | "unfinished" | "completed"> {
  const marker = await readMarker(to);
  if (marker === undefined) {
    await checkEmpty(to);
    return "empty";
  }
  if (marker.ended !== undefined && existing === "update" && marker.source === source) return "completed";
  if (marker.ended !== undefined) {
    const when = new Date(marker.ended).toISOString();
    throw new CopyError(`The target already holds a copy of ${marker.source}, completed at ${when}.`, [
      "Nothing was changed. To compare both sides again: store copy --verify",
    ]);
  }
  if (marker.source !== source) {
    throw new CopyError(`The target holds the beginning of a copy of another store, ${marker.source}.`, [
      `Resume that copy: store copy --from ${marker.source}`,
      "Or name a new and empty target.",
    ]);
  }
  return "unfinished";
}

export async function releaseTarget(to: Side, source: string, now: number): Promise<void> {
  await writeMarker(to, { source, ended: now });
}

async function writeMarker({ records: { documents } }: Side, marker: Marker): Promise<void> {
  const revision = (await documents.get(kind, name))?.revision;
  if ((await documents.put(kind, name, JSON.stringify(marker), revision)) === "committed") return;
  throw new CopyError("Another copy to this target is running. Wait for it, or stop it.");
}

async function checkEmpty({ records }: Side): Promise<void> {
  const [bucket] = await records.buckets();
  if (bucket !== undefined) throw notEmpty(`the bucket "${bucket.name}"`);
  for (const one of copiedKinds) {
    const [document] = await records.documents.list(one);
    // The name of a secret may be shown; its value may not.
    if (document !== undefined) throw notEmpty(`the ${one} "${document.name}"`);
  }
}

function notEmpty(what: string): CopyError {
  return new CopyError(`The target is not empty: it holds ${what}.`, ["Name a new and empty target."]);
}
