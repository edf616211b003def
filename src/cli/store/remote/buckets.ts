// Buckets of an S3 service and their settings.
import { type BucketRecord, defaultAccount } from "../../../model/bucket.ts";
import { StoreError } from "../../../model/errors.ts";
import { isDeleteMarker } from "../../../model/version.ts";
import { childText, findChild, findChildren } from "../../../s3/body/xml-reader.ts";
import { CommandError } from "../../framework/command-error.ts";
import type { ObjectStore } from "../object-store.ts";
import { documentText, type RemoteClient } from "./client.ts";
import { isStatus } from "./errors.ts";
import { requireBucket } from "./objects.ts";
import { readTime } from "./records.ts";
import { changeSettings, readSettings } from "./settings.ts";

type BucketOperations = Pick<
  ObjectStore,
  "createBucket" | "bucket" | "listBuckets" | "deleteBucket" | "changeSettings" | "totals"
>;
type Listings = Pick<ObjectStore, "list" | "listVersions">;

/** Regions that a service assumes without a location constraint. */
const defaultRegions = ["us-east-1", "auto"];

export function createRemoteBuckets(client: RemoteClient, listings: Listings): BucketOperations {
  async function exists(bucket: string): Promise<boolean> {
    try {
      await client.sendWithRetries({ method: "HEAD", bucket });
      return true;
    } catch (error) {
      if (isStatus(error, 404)) return false;
      throw error;
    }
  }

  async function listBuckets(): Promise<BucketRecord[]> {
    const document = await client.read({ bucket: "" }, "ListAllMyBucketsResult");
    return findChildren(findChild(document, "Buckets"), "Bucket").map((node) => {
      const name = childText(node, "Name");
      if (name === undefined) throw new CommandError(`${client.host} listed a bucket without a name.`);
      return { ...unknownDetails, name, created: readTime(node) };
    });
  }

  return {
    listBuckets,

    async createBucket(bucket, { storageClass = "Standard" } = {}) {
      if (storageClass !== "Standard") {
        throw new CommandError("S3 has no request for the default storage class of a bucket.", {
          hint: "Leave out --storage-class here, and give it to each upload.",
        });
      }
      // S3 reports success for a bucket that the caller already has.
      if (await exists(bucket)) throw new StoreError("BucketConflict");
      const { region } = client.endpoint;
      const text = defaultRegions.includes(region)
        ? ""
        : documentText("CreateBucketConfiguration", [["LocationConstraint", region]]);
      await client.write({ bucket, text });
      return { ...unknownDetails, name: bucket, created: Date.now() };
    },

    async bucket(bucket, names) {
      if (!(await exists(bucket))) return undefined;
      const settings = await readSettings(client, bucket, names);
      if (names?.length === 0) return { ...unknownDetails, name: bucket, created: 0, settings };
      const found = await listBuckets().catch(() => []);
      const created = found.find(({ name }) => name === bucket)?.created ?? 0;
      return { ...unknownDetails, name: bucket, created, settings };
    },

    async deleteBucket(bucket) {
      await client.sendWithRetries({ method: "DELETE", bucket });
    },

    /** S3 has no conditions on settings, so that `seen` is not compared. */
    async changeSettings(bucket, changes) {
      await requireBucket(client, bucket);
      await changeSettings(client, bucket, changes);
      return "committed";
    },

    /** S3 has no request for totals: everything is listed and counted. */
    async totals(bucket) {
      const totals = { objects: 0, bytes: 0, noncurrentVersions: 0, noncurrentBytes: 0 };
      const { versioning } = await readSettings(client, bucket, ["versioning"]);
      if (versioning === undefined) {
        for (
          let cursor: string | undefined, isFirst = true;
          isFirst || cursor !== undefined;
          isFirst = false
        ) {
          const page = await listings.list(bucket, { cursor });
          totals.objects += page.objects.length;
          for (const { size } of page.objects) totals.bytes += size;
          cursor = page.cursor;
        }
        return totals;
      }
      let after: Awaited<ReturnType<Listings["listVersions"]>>["next"];
      do {
        const page = await listings.listVersions(bucket, { after });
        for (const { version, isCurrent } of page.versions) {
          const size = isDeleteMarker(version) ? 0 : version.size;
          const isObject = isCurrent && !isDeleteMarker(version);
          totals[isObject ? "objects" : "noncurrentVersions"]++;
          totals[isObject ? "bytes" : "noncurrentBytes"] += size;
        }
        after = page.next;
      } while (after !== undefined);
      return totals;
    },
  };
}

/** Details of a bucket that S3 does not report. */
const unknownDetails = { storageClass: "Standard", account: defaultAccount } as const;
