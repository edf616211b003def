// Share links: anyone with the link can download one object until it expires or is revoked. A link
// has 256 random bits, of which the store has only a hash.
import { randomBytes } from "node:crypto";
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

export type NewShareLink = Pick<ShareLink, "key" | "expires" | "by"> & {
  readonly bucket: Pick<BucketRecord, "name" | "created">;
};

export interface ShareLinks {
  /** Undefined if there are already as many links as the store allows. */
  create(link: NewShareLink): Promise<{ readonly secret: string; readonly link: ShareLink } | undefined>;
  /** Undefined if the link is unknown, expired or revoked. */
  find(secret: string): Promise<ShareLink | undefined>;
  /** Returns the valid links of a bucket, the newest first. */
  list(bucket: string): Promise<ShareLink[]>;
  /** Returns the revoked link; undefined if the bucket has no such link. */
  revoke(bucket: string, id: string): Promise<ShareLink | undefined>;
}

const kind = "console share link";
const secretShape = /^[A-Za-z0-9_-]{43}$/;
const idLength = 16;
export const maxShareLinks = 10_000;

type StoredLink = Omit<ShareLink, "id">;

export function createShareLinks(documents: Documents, now: () => number): ShareLinks {
  async function all(): Promise<{ readonly name: string; readonly link: ShareLink }[]> {
    const documentsOfKind = await documents.list(kind);
    return documentsOfKind.map(({ name, text }) => ({ name, link: toLink(name, text) }));
  }

  return {
    async create({ bucket, key, expires, by }) {
      let count = 0;
      for (const { name, link } of await all()) {
        if (link.expires <= now()) await documents.delete(kind, name);
        else count++;
      }
      if (count >= maxShareLinks) return undefined;
      const secret = randomBytes(32).toString("base64url");
      const stored: StoredLink = {
        ...{ bucket: bucket.name, key, bucketCreated: bucket.created, created: now(), expires, by },
      };
      const hash = hashSecret(secret);
      await documents.put(kind, hash, JSON.stringify(stored), undefined);
      return { secret, link: toLink(hash, JSON.stringify(stored)) };
    },
    async find(secret) {
      if (!secretShape.test(secret)) return undefined;
      const document = await documents.get(kind, hashSecret(secret));
      const link = document && toLink(document.name, document.text);
      return link !== undefined && link.expires > now() ? link : undefined;
    },
    async list(bucket) {
      const links = (await all()).map(({ link }) => link);
      return links
        .filter((link) => link.bucket === bucket && link.expires > now())
        .sort((a, b) => b.created - a.created);
    },
    async revoke(bucket, id) {
      const found = (await all()).find(({ link }) => link.id === id && link.bucket === bucket);
      return found !== undefined && (await documents.delete(kind, found.name)) ? found.link : undefined;
    },
  };
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
