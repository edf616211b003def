// The quotas that `store quota` works on: those in the files of a store, or those of a running
// server by the console's API.
import type { Engine } from "../../../engine/engine.ts";
import { parseQuota, type Quota, type Usage } from "../../../model/settings/quota.ts";
import { type Fields, isCount, isFields, isList, isText } from "../../../model/shape.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { type Data, withData } from "../../store/open-store.ts";
import type { RemoteEndpoint } from "../../store/remote/client.ts";
import { type ConsoleClient, withConsole } from "../../store/remote/console.ts";
import { openRemoteStore } from "../../store/remote/open-remote.ts";
import { chosenService, type Service } from "../../store/remote/service.ts";
import { requireBucket } from "../../store/require-bucket.ts";

export type Target = { readonly bucket: string } | { readonly account: string };

export interface QuotaState {
  readonly target: Target;
  readonly quota: Quota | undefined;
  readonly usage: Usage;
}

/** The quotas of the files of a store, or of a running server by the console's API. */
export interface QuotaStore {
  /** Returns the quota without counting what is used. */
  find(target: Target): Promise<Quota | undefined>;
  read(target: Target): Promise<QuotaState>;
  list(): Promise<readonly QuotaState[]>;
  /** Undefined removes the quota. */
  change(target: Target, quota: Quota | undefined): Promise<void>;
}

export async function withQuotas<T>(
  invocation: Invocation,
  target: Target | undefined,
  work: (quotas: QuotaStore) => Promise<T>,
): Promise<T> {
  const service = await chosenService(invocation);
  if (service !== undefined)
    return withConsole(invocation, service, (client) => work(consoleQuotas(client, service)));
  const subject = target !== undefined && "bucket" in target ? target : {};
  return withData(invocation, { absent: "refuse", subject }, (data) => work(localQuotas(data)));
}

function localQuotas({ engine, recordAudit }: Data): QuotaStore {
  return {
    find: async (target) =>
      "bucket" in target
        ? (await requireBucket(engine, target.bucket)).settings.quota
        : engine.quotas.accountQuota(target.account),
    read: (target) => readState(engine, target),
    list: () => listStates(engine),
    async change(target, quota) {
      if ("bucket" in target) await engine.changeSettings(target.bucket, { quota });
      else await engine.quotas.setAccountQuota(target.account, quota);
      await recordAudit("change quota", "bucket" in target ? target.bucket : `account ${target.account}`);
    },
  };
}

async function readState(engine: Engine, target: Target): Promise<QuotaState> {
  if ("bucket" in target) {
    const { quota } = (await requireBucket(engine, target.bucket)).settings;
    return { target, quota, usage: await engine.quotas.bucketUsage(target.bucket) };
  }
  const quota = await engine.quotas.accountQuota(target.account);
  return { target, quota, usage: await engine.quotas.accountUsage(target.account) };
}

async function listStates(engine: Engine): Promise<QuotaState[]> {
  const states: QuotaState[] = [];
  for (const { account } of await engine.quotas.accountQuotas())
    states.push(await readState(engine, { account }));
  for (const { name: bucket } of await engine.listBuckets()) {
    const { quota } = (await engine.bucket(bucket))?.settings ?? {};
    if (quota !== undefined) states.push(await readState(engine, { bucket }));
  }
  return states;
}

/** Quotas of buckets only: the console has no requests for those of accounts. */
function consoleQuotas(client: ConsoleClient, { endpoint }: Service): QuotaStore {
  async function settings(target: Target): Promise<Fields & { readonly bucket: string }> {
    if (!("bucket" in target)) {
      throw usageError("The quota of an account cannot be reached through the console's API.", [
        "Run the command on the server's machine, with --data DIR.",
      ]);
    }
    const { bucket } = target;
    return { ...(await client.request({ method: "GET", path, query: { bucket } })), bucket };
  }

  function toQuota({ quota }: Fields): Quota | undefined {
    if (quota === null) return undefined;
    const parsed = isFields(quota) ? parseQuota(quota) : undefined;
    if (parsed === undefined) throw invalidAnswer();
    return parsed;
  }

  async function read(target: Target): Promise<QuotaState> {
    const found = await settings(target);
    // Without a quota, the server does not count.
    const { bytes, objects } = isFields(found.usage) ? found.usage : await countAll(endpoint, target);
    if (!isCount(bytes) || !isCount(objects)) throw invalidAnswer();
    return { target, quota: toQuota(found), usage: { bytes, objects } };
  }

  return {
    find: async (target) => toQuota(await settings(target)),
    read,
    async list() {
      const { buckets } = await client.request({ method: "GET", path: "/api/buckets" });
      if (!isList(buckets, 1_000_000, isFields)) throw invalidAnswer();
      const states: QuotaState[] = [];
      for (const { name } of buckets) {
        if (!isText(name, 64)) continue;
        const { quota } = await settings({ bucket: name });
        if (quota !== null) states.push(await read({ bucket: name }));
      }
      return states;
    },
    async change(target, quota) {
      const { bucket, seen } = await settings(target);
      const body = { quota: quota ?? null, seen: isFields(seen) ? seen.quota : "" };
      await client.request({ method: "PUT", path, query: { bucket, kind: "quota" }, body });
    },
  };
}

const path = "/api/settings";

/** Lists the bucket by S3: the usage of a quota includes all versions. */
async function countAll(endpoint: RemoteEndpoint, target: Target): Promise<Usage> {
  const { store, close } = openRemoteStore(endpoint);
  try {
    const totals = await store.totals("bucket" in target ? target.bucket : "");
    return {
      bytes: totals.bytes + totals.noncurrentBytes,
      objects: totals.objects + totals.noncurrentVersions,
    };
  } finally {
    close();
  }
}

function invalidAnswer(): CommandError {
  return new CommandError("The console answered in a form that this version does not know.", {
    hint: "Use the version of the server.",
  });
}
