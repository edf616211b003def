// Stores the quotas of accounts as documents, and remembers them for a short time, because every
// put needs the quota of its account.
import { StoreError } from "../../model/errors.ts";
import { isNamespaceBucket } from "../../model/key-value.ts";
import { checkQuota, parseQuota, type Quota, type Usage } from "../../model/settings/quota.ts";
import type { Records, Totals } from "../records.ts";
import type { Quotas } from "./quotas.ts";

const kind = "account quota";
const maxAgeMilliseconds = 2000;
const maxRemembered = 10_000;

interface RememberedQuota {
  readonly quota: Quota | undefined;
  readonly at: number;
}

export interface AccountQuotas extends Quotas {
  /** Returns the remembered quota, or a promise of the stored quota. */
  find(account: string): RememberedQuota | Promise<RememberedQuota>;
}

export function createAccountQuotas(records: Records, now: () => number): AccountQuotas {
  const { documents } = records;
  const remembered = new Map<string, RememberedQuota>();

  async function read(account: string): Promise<Quota | undefined> {
    const document = await documents.get(kind, account);
    return document && decodeQuota(account, document.text);
  }

  return {
    find(account) {
      const found = remembered.get(account);
      if (found !== undefined && Math.abs(now() - found.at) < maxAgeMilliseconds) return found;
      return read(account).then((quota) => {
        if (remembered.size >= maxRemembered) remembered.clear();
        const entry = { quota, at: now() };
        remembered.set(account, entry);
        return entry;
      });
    },
    accountQuota: read,
    async accountQuotas() {
      const stored = await documents.list(kind);
      return stored.map(({ name, text }) => ({ account: name, quota: decodeQuota(name, text) }));
    },
    async setAccountQuota(account, quota) {
      if (quota === undefined) await documents.delete(kind, account);
      else await write(account, quota);
      remembered.delete(account);
    },
    accountUsage: (account) =>
      sumUsage(records, account, async (bucket) =>
        (await read(account)) === undefined ? total(bucket) : records.usage(bucket),
      ),
    async bucketUsage(name) {
      const bucket = await records.bucket(name);
      if (bucket === undefined) throw new StoreError("NoSuchBucket");
      return bucket.settings.quota === undefined ? total(name) : records.usage(name);
    },
  };

  async function write(account: string, quota: Quota): Promise<void> {
    checkQuota(quota);
    for (;;) {
      const revision = (await documents.get(kind, account))?.revision;
      if ((await documents.put(kind, account, JSON.stringify(quota), revision)) === "committed") return;
    }
  }

  /** For display: `usage` would start to keep a count, which makes commits slower in some adapters. */
  async function total(bucket: string): Promise<Usage> {
    return toUsage(await records.totals(bucket));
  }
}

function decodeQuota(account: string, text: string): Quota {
  const quota = parseQuota(JSON.parse(text));
  if (quota !== undefined) return quota;
  throw new StoreError("Damaged", { detail: `The stored quota of account "${account}" is damaged.` });
}

function toUsage({ objects, bytes, noncurrentVersions, noncurrentBytes }: Totals): Usage {
  return { bytes: bytes + noncurrentBytes, objects: objects + noncurrentVersions };
}

/** Adds up the buckets of an account. A bucket that is deleted or damaged counts as empty. */
export async function sumUsage(
  records: Records,
  account: string,
  measure: (bucket: string) => Promise<Usage>,
): Promise<Usage> {
  let bytes = 0;
  let objects = 0;
  for (const bucket of await records.buckets("sound")) {
    if (bucket.account !== account || isNamespaceBucket(bucket.name)) continue;
    try {
      const usage = await measure(bucket.name);
      bytes += usage.bytes;
      objects += usage.objects;
    } catch (error) {
      const isGone = error instanceof StoreError && ["NoSuchBucket", "Damaged"].includes(error.reason);
      if (!isGone) throw error;
    }
  }
  return { bytes, objects };
}
