// Which bucket has a domain. Settings are stored by bucket, so a document for each domain decides
// between two buckets: it is written in one step, and only by the first.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import type { Bucket, BucketRecord } from "../model/bucket.ts";
import { isFields, isNumber, isText } from "../model/shape.ts";
import { parseDocument } from "../model/stored-document.ts";

interface StoredClaim {
  readonly bucket: string;
  /** Creation time of the bucket: a later bucket of the same name has no claim. */
  readonly created: number;
  /** Time of the claim. 0: an earlier release, which did not delete claims, released it. */
  readonly claimed: number;
}

/** A claim as it was read, so that only this one is released. */
export interface ReadClaim extends StoredClaim {
  readonly domain: string;
  readonly revision: number;
}

interface ClaimingStore {
  readonly engine: Pick<Engine, "bucket">;
  readonly documents: Documents;
}

const kind = "public domain";
/** Within this time after a claim, the setting that uses it may not be stored yet. */
const claimMilliseconds = 60_000;

/** Returns the bucket that has the domain, if it is another one. */
export async function claimDomain(
  { engine, documents }: ClaimingStore,
  domain: string,
  bucket: Bucket,
): Promise<string | undefined> {
  const { name, created } = bucket;
  for (;;) {
    const claim = await readClaim(documents, domain);
    const isOwn = claim?.bucket === name && claim.created === created;
    if (claim !== undefined && !isOwn && (await isClaimed(engine, claim))) return claim.bucket;
    if (isOwn && claim.claimed !== 0 && hasDomain(bucket, domain)) return undefined;
    const stored: StoredClaim = { bucket: name, created, claimed: Date.now() };
    if ((await documents.put(kind, domain, JSON.stringify(stored), claim?.revision)) === "committed")
      return undefined;
  }
}

/** Whether the bucket of the claim exists and has the domain, or may be about to get it. */
async function isClaimed(
  engine: Pick<Engine, "bucket">,
  { domain, bucket, created, claimed }: ReadClaim,
): Promise<boolean> {
  const holder = await engine.bucket(bucket);
  if (holder?.created !== created) return false;
  if (Math.abs(Date.now() - claimed) < claimMilliseconds) return true;
  return hasDomain(holder, domain);
}

function hasDomain({ settings }: Bucket, domain: string): boolean {
  return settings.publication?.domains?.includes(domain) === true;
}

/** Returns the claims of the bucket on these domains. */
export async function readOwnClaims(
  documents: Documents,
  domains: readonly string[],
  { name, created }: BucketRecord,
): Promise<ReadClaim[]> {
  const claims: ReadClaim[] = [];
  for (const domain of domains) {
    const claim = await readClaim(documents, domain);
    if (claim?.bucket === name && claim.created === created) claims.push(claim);
  }
  return claims;
}

/** Has no effect on a domain that was claimed again meanwhile. */
export async function releaseDomain(documents: Documents, claim: ReadClaim): Promise<void> {
  await documents.delete(kind, claim.domain, claim.revision);
}

export async function readClaim(documents: Documents, domain: string): Promise<ReadClaim | undefined> {
  const document = await documents.get(kind, domain);
  return document && { ...parseClaim(domain, document.text), domain, revision: document.revision };
}

function parseClaim(domain: string, text: string): StoredClaim {
  return parseDocument(text, `The bucket of the domain "${domain}"`, (value): value is StoredClaim => {
    if (!isFields(value)) return false;
    return isText(value.bucket, 63) && isNumber(value.created) && isNumber(value.claimed);
  });
}
