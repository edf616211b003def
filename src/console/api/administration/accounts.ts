// Routes for accounts: what their buckets contain, and their quotas.
import type { Engine } from "../../../engine/engine.ts";
import { checkQuota } from "../../../model/settings/quota.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Route } from "../../route.ts";
import type { AccountsDocument } from "../../wire-administration.ts";

const needs = { right: "administer", on: "store" } as const;

export function accountRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/accounts",
      needs,
      async run() {
        return json(await listAccounts(engine));
      },
    },
    {
      method: "PUT",
      path: "/api/accounts/quota",
      needs,
      async run({ fields }) {
        const given = await fields();
        const quota = given.object("quota");
        if (quota !== undefined) checkQuota(quota);
        const account = given.text("account");
        const { accounts } = await listAccounts(engine);
        if (!accounts.some((one) => one.account === account))
          throw new ConsoleError(404, `No bucket belongs to the account "${account}".`, {
            hint: "Create a bucket for the account first, or use store quota.",
          });
        await engine.quotas.setAccountQuota(account, quota);
        return noContent();
      },
    },
  ];
}

async function listAccounts(engine: Engine): Promise<AccountsDocument> {
  const quotas = new Map(
    (await engine.quotas.accountQuotas()).map(({ account, quota }) => [account, quota] as const),
  );
  const buckets = new Map<string, number>();
  for (const { account } of await engine.listBuckets()) buckets.set(account, (buckets.get(account) ?? 0) + 1);
  const names = [...new Set([...buckets.keys(), ...quotas.keys()])].sort();
  const accounts = [];
  for (const account of names)
    accounts.push({
      ...{ account, buckets: buckets.get(account) ?? 0, quota: quotas.get(account) ?? null },
      usage: await engine.quotas.accountUsage(account),
    });
  return { accounts };
}
