// Publishes buckets for anonymous reading. The settings of a bucket decide whether it is public. An
// index with one document per public bucket saves the server from reading every bucket.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import type { BucketSettings } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import {
  commonServerNames,
  isDomain,
  type Publication,
  publicationFlaw,
  type ServerNames,
} from "../model/settings/publication.ts";
import { isList, isText } from "../model/shape.ts";
import { parseDocument } from "../model/stored-document.ts";
import { claimDomain, readClaim, readOwnClaims, releaseDomain } from "./domain-claims.ts";

/** A publication setting was refused; the message says why. */
export class PublicationError extends Error {
  override readonly name = "PublicationError";
}

export interface PublishingStore {
  readonly engine: Pick<Engine, "bucket" | "changeSettings">;
  readonly documents: Documents;
  /** Default: the names that every server has. */
  readonly serverNames?: ServerNames | undefined;
}

const kind = "public bucket";

export interface PublicBucket {
  readonly bucket: string;
  readonly domains: readonly string[];
}

export async function listPublicBuckets(documents: Documents): Promise<PublicBucket[]> {
  const all = await documents.list(kind);
  return all.map(({ name, text }) => ({ bucket: name, domains: parseDomains(name, text) }));
}

/** Returns the bucket that claimed the domain first, if it still has it. */
export async function findDomain(documents: Documents, domain: string): Promise<string | undefined> {
  if (!isDomain(domain)) return undefined;
  const bucket = (await readClaim(documents, domain))?.bucket;
  const listed = bucket === undefined ? undefined : await documents.get(kind, bucket);
  if (listed === undefined) return undefined;
  return parseDomains(listed.name, listed.text).includes(domain) ? bucket : undefined;
}

function parseDomains(bucket: string, text: string): readonly string[] {
  const isName = (value: unknown): value is string => isText(value, 253);
  return parseDocument(
    text,
    `The list of domains of the public bucket "${bucket}"`,
    (value): value is readonly string[] => isList(value, 100_000, isName),
  );
}

/**
 * Publishes a bucket, or with undefined makes it private. With `seen`, a publication that is not
 * the one in these settings is kept, and the outcome is "conflict".
 */
export async function publish(
  store: PublishingStore,
  name: string,
  publication: Publication | undefined,
  seen?: BucketSettings,
): Promise<"committed" | "conflict"> {
  const { engine, documents, serverNames = commonServerNames } = store;
  const flaw = publication && publicationFlaw(publication, serverNames);
  if (flaw !== undefined) throw new PublicationError(flaw);
  const { domains = [] } = publication ?? {};
  for (;;) {
    const bucket = await engine.bucket(name);
    if (bucket === undefined) throw new StoreError("NoSuchBucket");
    const settings = seen ?? bucket.settings;
    const held = bucket.settings.publication?.domains ?? [];
    // A domain is claimed before the setting that uses it, and released after the setting is changed.
    for (const domain of domains) {
      const holder = await claimDomain(store, domain, bucket);
      if (holder !== undefined)
        throw new PublicationError(
          `Domain "${domain}" already belongs to bucket "${holder}": choose another domain.`,
        );
    }
    const dropped = held.filter((domain) => !domains.includes(domain));
    const claims = await readOwnClaims(documents, dropped, bucket);
    if ((await engine.changeSettings(name, { publication }, settings)) === "committed") {
      await updateIndex(store, name);
      for (const claim of claims) await releaseDomain(documents, claim);
      return "committed";
    }
    if (seen !== undefined) return "conflict";
  }
}

/** Lists the bucket as its settings are now, also if they are changed meanwhile. */
async function updateIndex({ engine, documents }: PublishingStore, name: string): Promise<void> {
  const read = async () => (await engine.bucket(name))?.settings.publication;
  for (;;) {
    const revision = (await documents.get(kind, name))?.revision;
    const publication = await read();
    if (publication === undefined) {
      await documents.delete(kind, name);
      if ((await read()) === undefined) return;
    } else {
      const text = JSON.stringify(publication.domains ?? []);
      if ((await documents.put(kind, name, text, revision)) === "committed") return;
    }
  }
}
