// Which buckets everybody may read, and by which names: set on the bucket, and noted in a document for each, so that
// whoever serves them need not ask every bucket there is. What the bucket itself says decides.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import { checkKey } from "../model/key.ts";
import { isSendable } from "../model/metadata.ts";
import type { Publication } from "../model/publication.ts";

/** What cannot be set, in words. */
export class PublicationError extends Error {
  override readonly name = "PublicationError";
}

const kind = "public bucket";
const domainShape =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export interface PublicBucket {
  readonly bucket: string;
  readonly domains: readonly string[];
}

export async function listPublicBuckets(documents: Documents): Promise<PublicBucket[]> {
  const all = await documents.list(kind);
  return all.map(({ name, text }) => ({ bucket: name, domains: JSON.parse(text) as string[] }));
}

export async function publish(
  engine: Pick<Engine, "bucket" | "changeSettings">,
  documents: Documents,
  bucket: string,
  publication: Publication,
): Promise<void> {
  checkPublication(publication);
  const domains = publication.domains ?? [];
  for (const other of await listPublicBuckets(documents)) {
    const taken = other.bucket === bucket ? undefined : domains.find((name) => other.domains.includes(name));
    if (taken !== undefined)
      throw new PublicationError(`The name "${taken}" stands for bucket "${other.bucket}" already.`);
  }
  if ((await engine.bucket(bucket)) === undefined) throw new StoreError("NoSuchBucket");
  await engine.changeSettings(bucket, { publication });
  for (;;) {
    const revision = (await documents.get(kind, bucket))?.revision;
    if ((await documents.put(kind, bucket, JSON.stringify(domains), revision)) === "committed") return;
  }
}

export async function unpublish(
  engine: Pick<Engine, "bucket" | "changeSettings">,
  documents: Documents,
  bucket: string,
): Promise<void> {
  if ((await engine.bucket(bucket)) === undefined) throw new StoreError("NoSuchBucket");
  await engine.changeSettings(bucket, { publication: undefined });
  await documents.delete(kind, bucket);
}

function checkPublication({ index, notFound, cacheControl, domains = [] }: Publication): void {
  if (index !== undefined && (index === "" || index.includes("/")))
    throw new PublicationError(`"${index}" cannot stand for a folder: name a file, such as index.html.`);
  if (notFound !== undefined) checkKey(notFound);
  if (cacheControl !== undefined && (!isSendable(cacheControl) || !/^[\x20-\x7e]+$/.test(cacheControl)))
    throw new PublicationError("The cache control has characters that no header may have.");
  const invalid = domains.find((name) => !domainShape.test(name) || !/[a-z]/.test(name));
  if (invalid !== undefined)
    throw new PublicationError(
      `"${invalid}" is no name of a host: write it in lowercase, such as files.example.com.`,
    );
}
