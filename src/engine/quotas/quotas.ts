// The quotas of accounts, and what buckets and accounts use. The quota of a bucket is one of its
// settings.
import type { Quota, Usage } from "../../model/settings/quota.ts";

export interface AccountQuota {
  readonly account: string;
  readonly quota: Quota;
}

export interface Quotas {
  /** Returns undefined if the account has no quota. */
  accountQuota(account: string): Promise<Quota | undefined>;
  /** Sorted by account. */
  accountQuotas(): Promise<readonly AccountQuota[]>;
  /** Undefined removes the quota. Other processes know the new quota after a few seconds. */
  setAccountQuota(account: string, quota: Quota | undefined): Promise<void>;
  /** What the buckets of the account contain. Namespaces do not count. */
  accountUsage(account: string): Promise<Usage>;
  bucketUsage(bucket: string): Promise<Usage>;
}
