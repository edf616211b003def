// OpenID providers of the console: which group of a provider has which role, and sign-ins that are
// in progress. A sign-in is stored on the server and can be finished once, by the same browser.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Documents } from "../../engine/records.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { createCodeFlow, type PendingSignIn } from "../../oidc/code-flow.ts";
import type { Claims } from "../../oidc/verifier.ts";
import { mergePermissions, type Permissions } from "./roles.ts";
import type { ProviderIdentity } from "./sessions.ts";
import { hashSecret } from "./tokens.ts";

export interface ProviderOptions {
  /** Short name, used in addresses and the audit log. */
  readonly name: string;
  /** Text of the button on the sign-in page. */
  readonly title: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  /** Name of the claim with the groups of the user. */
  readonly groupClaim: string;
  /** Permissions by group. Users without a listed group are refused. */
  readonly groups: ReadonlyMap<string, Permissions>;
}

export interface StartedSignIn {
  /** Secret id for a cookie of the browser that started. */
  readonly id: string;
  readonly url: string;
}

export interface StartOptions {
  /** URL to which the provider sends the browser back. */
  readonly redirectUrl: string;
  /** Address of the client. */
  readonly address: string;
}

export interface FinishOptions {
  readonly id: string;
  readonly state: string;
  readonly code: string;
  readonly issuer: string | undefined;
}

export interface Providers {
  readonly list: readonly Pick<ProviderOptions, "name" | "title">[];
  /** Undefined for an unknown provider. Throws OidcError. */
  start(provider: string, options: StartOptions): Promise<StartedSignIn | undefined>;
  /** Undefined if this browser has no such sign-in in progress. Throws OidcError. */
  finish(options: FinishOptions): Promise<ProviderIdentity | undefined>;
  groupPermissions(provider: string, groups: readonly string[]): Permissions | undefined;
}

interface StoredSignIn extends PendingSignIn {
  readonly provider: string;
  readonly expires: number;
  /** Network of the client; missing in sign-ins of an earlier release. */
  readonly network?: string;
}

const kind = "console sign-in";
export const signInMilliseconds = 600_000;
/** Anyone can start a sign-in, so the number of stored ones is limited. */
const maxStored = 1000;

export function createProviders(
  options: readonly ProviderOptions[],
  documents: Documents,
  now: () => number,
): Providers {
  const providers = new Map(
    options.map((provider) => {
      const flow = createCodeFlow({ ...provider, wantedClaims: [provider.groupClaim], now });
      return [provider.name, { ...provider, flow }];
    }),
  );

  /** Removes expired sign-ins, and if there are too many, the oldest of the clients with the most. */
  async function deleteOld(): Promise<void> {
    const all = (await documents.list(kind)).map(({ name, text }) => {
      const { expires, network = "" } = JSON.parse(text) as StoredSignIn;
      return { name, expires, network };
    });
    all.sort((a, b) => b.expires - a.expires);
    const counts = new Map<string, number>();
    const ranked = all.map((one) => {
      const rank = counts.get(one.network) ?? 0;
      counts.set(one.network, rank + 1);
      return { ...one, rank };
    });
    ranked.sort((a, b) => a.rank - b.rank);
    for (const [index, { name, expires }] of ranked.entries())
      if (expires <= now() || index >= maxStored - 1) await documents.delete(kind, name);
  }

  /** Returns a sign-in only once: a second browser or a replay finds nothing. */
  async function take(id: string): Promise<StoredSignIn | undefined> {
    const name = hashSecret(id);
    const document = await documents.get(kind, name);
    if (document === undefined || !(await documents.delete(kind, name))) return undefined;
    const stored = JSON.parse(document.text) as StoredSignIn;
    return stored.expires > now() ? stored : undefined;
  }

  return {
    list: options.map(({ name, title }) => ({ name, title })),
    async start(name, { redirectUrl, address }) {
      const provider = providers.get(name);
      if (provider === undefined) return undefined;
      const { url, pending } = await provider.flow.begin(redirectUrl);
      await deleteOld();
      const id = randomBytes(32).toString("base64url");
      const expires = now() + signInMilliseconds;
      const stored: StoredSignIn = { ...pending, provider: name, expires, network: clientNetwork(address) };
      await documents.put(kind, hashSecret(id), JSON.stringify(stored), undefined);
      return { id, url };
    },
    async finish({ id, state, code, issuer }) {
      const stored = await take(id);
      const provider = stored && providers.get(stored.provider);
      if (stored === undefined || provider === undefined || !isSame(stored.state, state)) return undefined;
      const claims = await provider.flow.finish({ code, issuer }, stored);
      return toIdentity(provider, claims);
    },
    groupPermissions(name, groups) {
      const provider = providers.get(name);
      const found = groups.flatMap((group) => provider?.groups.get(group) ?? []);
      return provider && mergePermissions(found);
    },
  };
}

/** Keeps only groups that have a role, because the others are nobody's business. */
function toIdentity(options: ProviderOptions, claims: Claims): ProviderIdentity {
  const claimed = claims.all[options.groupClaim];
  const all = new Set<unknown>(Array.isArray(claimed) ? claimed : [claimed]);
  const groups = [...options.groups.keys()].filter((group) => all.has(group));
  const { email, preferred_username, name } = claims.all;
  const names = [preferred_username, email, name, claims.subject];
  const shown = names.find((one) => typeof one === "string" && one.trim() !== "") as string;
  return { provider: options.name, subject: claims.subject, name: cleanName(shown), groups };
}

function cleanName(name: string): string {
  return name.replaceAll(/\p{C}/gu, "").trim().slice(0, 60);
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(a), "hex"), Buffer.from(hashSecret(b), "hex"));
}
