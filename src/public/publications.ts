// Publishes buckets for anonymous reading. The settings of a bucket decide whether it is public. An
// index with one document per public bucket saves the server from reading every bucket.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import { checkKey } from "../model/key.ts";
import { isSendable } from "../model/metadata.ts";
import type { Publication } from "../model/settings/publication.ts";
import { isList, isText } from "../model/shape.ts";
import { parseDocument } from "../model/stored-document.ts";

/** A publication setting was refused; the message says why. */
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
  return all.map(({ name, text }) => ({ bucket: name, domains: parseDomains(name, text) }));
}

function parseDomains(bucket: string, text: string): readonly string[] {
  const isDomain = (value: unknown): value is string => isText(value, 253);
  return parseDocument(
    text,
    `The list of domains of the public bucket "${bucket}"`,
    (value): value is readonly string[] => isList(value, 100_000, isDomain),
  );
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
      throw new PublicationError(
        `Domain "${taken}" already belongs to bucket "${other.bucket}": choose another domain.`,
      );
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
    throw new PublicationError(
      `Index document "${index}" is not valid: specify a file name without "/", such as index.html.`,
    );
  if (notFound !== undefined) checkKey(notFound);
  if (cacheControl !== undefined && (!isSendable(cacheControl) || !/^[\x20-\x7e]+$/.test(cacheControl)))
    throw new PublicationError("Cache-Control is not valid: use printable ASCII characters only.");
  const invalid = domains.find((name) => !domainShape.test(name) || !/[a-z]/.test(name));
  if (invalid !== undefined)
    throw new PublicationError(
      `"${invalid}" is not a host name: write it in lowercase, such as files.example.com.`,
    );
}
