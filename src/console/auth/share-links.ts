// Share links: anyone with the link can download one object until it expires or is revoked. A link
// has 256 random bits, of which the store has only a hash. An index by bucket saves a listing from
// reading the links of all others.
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Documents } from "../../engine/records.ts";
import type { BucketRecord } from "../../model/bucket.ts";
import { isFields } from "../../model/shape.ts";
import { parseDocument } from "../../model/stored-document.ts";
import { hashSecret } from "./tokens.ts";

export interface ShareLink {
  /** Public id, with which the link is listed and revoked. It cannot be used to download. */
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  /** Creation time of the bucket: a later bucket of the same name is not shared. */
  readonly bucketCreated: number;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number;
  /** Name of the user who created the link. */
  readonly by: string;
}

type SharedBucket = Pick<BucketRecord, "name" | "created">;

export type NewShareLink = Pick<ShareLink, "key" | "expires" | "by"> & { readonly bucket: SharedBucket };

export interface ShareLinks {
  /** Returns what has too many links, if there are as many as are allowed. */
  create(
    link: NewShareLink,
  ): Promise<{ readonly secret: string; readonly link: ShareLink } | "full bucket" | "full store">;
  /** Undefined if the link is unknown, expired or revoked. */
  find(secret: string): Promise<ShareLink | undefined>;
  /** Returns the valid links of a bucket, the newest first. */
  list(bucket: SharedBucket): Promise<ShareLink[]>;
  /** Returns the revoked link; undefined if the bucket has no such link. */
  revoke(bucket: string, id: string): Promise<ShareLink | undefined>;
}

/** Links by the hash of the secret. */
const kind = "console share link";
/** The same links by bucket and hash. Written after the link, and deleted after it. */
const indexKind = "bucket share link";
/** Links are read by the first digit of their hashes. */
const hexDigits = "0123456789abcdef";
const secretShape = /^[A-Za-z0-9_-]{43}$/;
const idLength = 16;
export const maxShareLinks = 10_000;
export const maxBucketLinks = 1000;
/** As for presigned URLs: the difference between the clocks of servers. */
const clockSkewMilliseconds = 15 * 60_000;
const sweepMilliseconds = 3600 * 1000;
const fullSweepMilliseconds = 60 * 1000;

type StoredLink = Omit<ShareLink, "id">;

export function createShareLinks(documents: Documents, now: () => number): ShareLinks {
  let sweeping: Promise<void> | undefined;
  let swept = Number.NEGATIVE_INFINITY;
  /** Links of the store at the last sweep, and those that this process has created since. */
  let count = 0;

  /** Completes the index, which lacks a link after a crash between both writes, and deletes expired links. */
  async function sweep(): Promise<void> {
    const indexed = new Set((await documents.list(indexKind)).map(({ name }) => name));
    let valid = 0;
    for (const digit of hexDigits) {
      // A store has up to 10,000 links: other requests run between their parts.
      await nextTurn();
      for (const { name, text } of await documents.list(kind, digit)) {
        const { bucket, expires } = toLink(name, text);
        if (expires <= now()) {
          await documents.delete(kind, name);
          continue;
        }
        valid++;
        const entry = indexName(bucket, name);
        if (!indexed.delete(entry)) await documents.put(indexKind, entry, text, undefined);
      }
    }
    // The links of the rest have expired or been revoked.
    for (const entry of indexed) await documents.delete(indexKind, entry);
    count = valid;
    swept = now();
  }

  async function ensureSwept(milliseconds: number): Promise<void> {
    // A clock that was set back must not keep the store full until the clock has caught up.
    if (sweeping === undefined && Math.abs(now() - swept) >= milliseconds)
      sweeping = sweep().finally(() => {
        sweeping = undefined;
      });
    await sweeping;
  }

  async function remove({ bucket }: ShareLink, hash: string): Promise<boolean> {
    const isDeleted = await documents.delete(kind, hash);
    if (isDeleted) count--;
    await documents.delete(indexKind, indexName(bucket, hash));
    return isDeleted;
  }

  /** Returns the links of a bucket by their hashes, with those that have ended. */
  async function linksOf(bucket: string, id = ""): Promise<{ hash: string; link: ShareLink }[]> {
    await ensureSwept(Number.POSITIVE_INFINITY);
    const entries = await documents.list(indexKind, indexName(bucket, id));
    return entries.map(({ name, text }) => {
      const hash = name.slice(bucket.length + 1);
      return { hash, link: toLink(hash, text) };
    });
  }

  function isValid(link: ShareLink, { created }: SharedBucket): boolean {
    return link.bucketCreated === created && link.expires > now();
  }

  return {
    async create({ bucket, key, expires, by }) {
      await ensureSwept(count < maxShareLinks ? sweepMilliseconds : fullSweepMilliseconds);
      if (count >= maxShareLinks) return "full store";
      let ofBucket = 0;
      for (const { hash, link } of await linksOf(bucket.name)) {
        if (isValid(link, bucket)) ofBucket++;
        else await remove(link, hash);
      }
      if (ofBucket >= maxBucketLinks) return "full bucket";
      const secret = randomBytes(32).toString("base64url");
      const stored: StoredLink = {
        ...{ bucket: bucket.name, key, bucketCreated: bucket.created, created: now(), expires, by },
      };
      const hash = hashSecret(secret);
      const text = JSON.stringify(stored);
      await documents.put(kind, hash, text, undefined);
      await documents.put(indexKind, indexName(bucket.name, hash), text, undefined);
      count++;
      return { secret, link: toLink(hash, text) };
    },
    async find(secret) {
      if (!secretShape.test(secret)) return undefined;
      const document = await documents.get(kind, hashSecret(secret));
      const link = document && toLink(document.name, document.text);
      if (link === undefined || link.expires <= now()) return undefined;
      // On a clock that was set back, a link that has expired must not work again.
      return link.created <= now() + clockSkewMilliseconds ? link : undefined;
    },
    async list(bucket) {
      const links = (await linksOf(bucket.name)).map(({ link }) => link);
      return links.filter((link) => isValid(link, bucket)).sort((a, b) => b.created - a.created);
    },
    async revoke(bucket, id) {
      if (id.length !== idLength) return undefined;
      const [found] = await linksOf(bucket, id);
      return found !== undefined && (await remove(found.link, found.hash)) ? found.link : undefined;
    },
  };
}

function indexName(bucket: string, hash: string): string {
  return `${bucket}/${hash}`;
}

function toLink(name: string, text: string): ShareLink {
  return { id: name.slice(0, idLength), ...parseDocument(text, "A share link", isStoredLink) };
}

function isStoredLink(value: unknown): value is StoredLink {
  if (!isFields(value)) return false;
  const { bucket, key, bucketCreated, created, expires, by } = value;
  return (
    [bucket, key, by].every((text) => typeof text === "string") &&
    [bucketCreated, created, expires].every(Number.isFinite)
  );
}
