// Versions of objects in an S3 service, their tags and their locks.
import type { VersionListing } from "../../../engine/versions/versions.ts";
import { StoreError } from "../../../model/errors.ts";
import { compareKeys } from "../../../model/key.ts";
import { limits } from "../../../model/limits.ts";
import type { VersionPosition } from "../../../model/listing.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { type DeleteMarker, isDeleteMarker, isVersionNamed } from "../../../model/version.ts";
import { childText, findChildren, type XmlNode } from "../../../s3/body/xml-reader.ts";
import { formatMode } from "../../../s3/headers/lock.ts";
import { tagSetElement } from "../../../s3/headers/tags.ts";
import { Broken } from "../../../s3-client/http-client.ts";
import { CommandError } from "../../framework/command-error.ts";
import type { ObjectStore } from "../object-store.ts";
import { documentText, type RemoteClient } from "./client.ts";
import { deleteMany } from "./delete-many.ts";
import { decodeKey, requirePrefix, urlEncoding } from "./list-objects.ts";
import { type FindVersion, versionQuery } from "./objects.ts";
import { readTime, recordFromElement } from "./records.ts";

type ListedVersion = VersionListing["versions"][number];
type VersionOperations = Pick<
  ObjectStore,
  "listVersions" | "deleteVersions" | "setTags" | "setRetention" | "setLegalHold"
>;

/** Finds the version that was current at a time. Times of S3 are exact to a second. */
export function createVersionFinder(store: Pick<ObjectStore, "listVersions">): FindVersion {
  return async (bucket, key, time) => {
    let after: VersionListing["next"];
    do {
      const page = await store.listVersions(bucket, { prefix: key, after });
      for (const { version } of page.versions) {
        if (version.key !== key) return undefined;
        if (version.uploaded <= time) return isDeleteMarker(version) ? undefined : version.version;
      }
      after = page.next;
    } while (after !== undefined);
    return undefined;
  };
}

export function createRemoteVersions(
  client: RemoteClient,
  readRecord: (bucket: string, key: string, version: string | undefined) => Promise<ObjectRecord | undefined>,
): VersionOperations {
  const listVersions = createVersionLister(client);

  async function changed(bucket: string, key: string, version: string | undefined): Promise<ObjectRecord> {
    const record = await readRecord(bucket, key, version);
    if (record === undefined) throw new StoreError(version === undefined ? "NoSuchKey" : "NoSuchVersion");
    return record;
  }

  /** S3 reports success for a version that does not exist, so look for it first. */
  async function isMissing(bucket: string, key: string, version: string): Promise<boolean> {
    let after: VersionListing["next"];
    do {
      const page = await listVersions(bucket, { prefix: key, after });
      const found = page.versions.some(
        (one) => one.version.key === key && isVersionNamed(one.version, version),
      );
      if (found) return false;
      after = page.next;
    } while (after !== undefined);
    return true;
  }

  return {
    listVersions,

    async deleteVersions(bucket, targets, { bypassGovernance } = {}) {
      const [only] = targets;
      if (targets.length === 1 && (await isMissing(bucket, only!.key, only!.version)))
        return [{ outcome: "missing" }];
      const results = await deleteMany(client, bucket, { targets, bypassGovernance });
      const byName = new Map(results.map((result) => [`${result.version} ${result.key}`, result]));
      return targets.map(({ key, version }) => {
        const result = byName.get(`${version} ${key}`);
        if (result === undefined)
          throw new CommandError(`${client.host} did not answer for version ${version}.`);
        if (result.error !== undefined) return { outcome: "locked", message: result.error };
        const marker: DeleteMarker = { isDeleteMarker: true, key, version, uploaded: 0 };
        const object = { ...emptyRecord, key, version };
        return { outcome: "deleted", version: result.marker === undefined ? object : marker };
      });
    },

    async setTags(bucket, key, tags, { version } = {}) {
      const query = [["tagging", ""], ...versionQuery(version)] as const;
      await client.write({ bucket, key, query, text: documentText("Tagging", [tagSetElement(tags)]) });
      const { tags: _, ...record } = await changed(bucket, key, version);
      return tags.size === 0 ? record : { ...record, tags };
    },

    async setRetention(bucket, key, retention, { version, bypassGovernance } = {}) {
      const query = [["retention", ""], ...versionQuery(version)] as const;
      const children =
        retention === undefined
          ? []
          : ([
              ["Mode", formatMode(retention.mode)],
              ["RetainUntilDate", new Date(retention.until).toISOString()],
            ] as const);
      const headers = bypassGovernance === true ? { "x-amz-bypass-governance-retention": "true" } : {};
      await client.write({ bucket, key, query, headers, text: documentText("Retention", children) });
      return changed(bucket, key, version);
    },

    async setLegalHold(bucket, key, isOnHold, { version } = {}) {
      const query = [["legal-hold", ""], ...versionQuery(version)] as const;
      const text = documentText("LegalHold", [["Status", isOnHold ? "ON" : "OFF"]]);
      await client.write({ bucket, key, query, text });
      return changed(bucket, key, version);
    },
  };
}

/** What is known of a version after it was deleted. */
const emptyRecord = {
  ...{ size: 0, etag: "", uploaded: 0, checksums: {}, httpMetadata: {}, customMetadata: new Map() },
  storageClass: "Standard",
} as const;

function createVersionLister(client: RemoteClient): VersionOperations["listVersions"] {
  /** Last version of the previous page: the next page may start with older versions of its key. */
  let previous: { readonly key: string; readonly uploaded: number } | undefined;

  function toListed(node: XmlNode, isEncoded: boolean): ListedVersion {
    const key = decodeKey(childText(node, "Key"), isEncoded);
    const isCurrent = childText(node, "IsLatest") === "true";
    const uploaded = readTime(node);
    const version = childText(node, "VersionId") ?? "null";
    const until = isCurrent ? Number.POSITIVE_INFINITY : previous?.key === key ? previous.uploaded : uploaded;
    previous = { key, uploaded };
    if (node.name === "Version") return { version: recordFromElement(node, key), isCurrent, until };
    const isVersioned = version === "null" ? {} : { isVersioned: true as const };
    return { version: { isDeleteMarker: true, key, version, uploaded, ...isVersioned }, isCurrent, until };
  }

  return async (bucket, { prefix = "", delimiter = "", after, limit = limits.listEntries } = {}) => {
    const query: (readonly [string, string])[] = [
      ["versions", ""],
      urlEncoding,
      ["max-keys", String(limit)],
      ["prefix", prefix],
    ];
    if (delimiter !== "") query.push(["delimiter", delimiter]);
    if (after === undefined) previous = undefined;
    if (after !== undefined && after.value !== "") query.push(["key-marker", after.value]);
    if (after?.version !== undefined) query.push(["version-id-marker", after.version]);
    const page = await client.read({ bucket, query }, "ListVersionsResult");
    const isEncoded = childText(page, "EncodingType") === "url";
    const listed = page.children.filter(({ name }) => name === "Version" || name === "DeleteMarker");
    const isTruncated = childText(page, "IsTruncated") === "true";
    const [key, version] = [childText(page, "NextKeyMarker"), childText(page, "NextVersionIdMarker")];
    if (isTruncated && key === undefined) {
      throw new CommandError(`${client.host} sent a page of versions without the start of the next page.`);
    }
    const versions = listed.map((node) => toListed(node, isEncoded));
    const prefixes = findChildren(page, "CommonPrefixes").map((node) =>
      decodeKey(childText(node, "Prefix"), isEncoded),
    );
    requirePrefix(client, [...versions.map((one) => one.version.key), ...prefixes], prefix);
    if (!isTruncated) return { versions, prefixes, next: undefined };
    const next = { kind: "key", value: decodeKey(key, isEncoded), ...(version ? { version } : {}) } as const;
    if (after !== undefined && !isAfter(next, after))
      throw client.mapError(new Broken("a page of a listing does not start after the page before"));
    return { versions, prefixes, next };
  };
}

/** Versions of one key have no order of their own. */
function isAfter(next: VersionPosition, after: VersionPosition): boolean {
  const order = compareKeys(next.value, after.value);
  return order > 0 || (order === 0 && next.version !== after.version);
}
