// Principals of a policy: everyone, accounts and access keys.
import { isFields } from "../../model/shape.ts";
import { toOwner } from "../keys/credentials.ts";
import { PolicyError, type Principal } from "./policy.ts";
import { readFields, readTexts, shorten } from "./shapes.ts";

/** Who sends a request. Undefined fields: an anonymous caller. */
export interface PolicyCaller {
  readonly accessKeyId: string;
  readonly account: string;
  readonly isAnonymous?: true | undefined;
  /** Undefined: full access to the account. */
  readonly grants: readonly unknown[] | undefined;
}

const accountShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const keyShape = /^[A-Za-z0-9._-]{3,128}$/;
const ownerShape = /^[0-9a-f]{64}$/;
const userArn = /^arn:aws:iam::([^:]*):user\/(.*)$/s;
const rootArn = /^arn:aws:iam::([^:]*):root$/s;

export function parsePrincipals(value: unknown, path: string): readonly Principal[] {
  if (value === "*") return [{ kind: "everyone" }];
  if (!isFields(value)) {
    throw new PolicyError(`${path} must be "*" or an object, such as {"AWS": "arn:aws:iam::default:root"}.`);
  }
  const fields = readFields(value, path, ["AWS", "CanonicalUser"]);
  const keysAndAccounts =
    fields.AWS === undefined
      ? []
      : readTexts(fields.AWS, `${path}.AWS`).map((text) => parsePrincipal(text, `${path}.AWS`));
  const owners =
    fields.CanonicalUser === undefined
      ? []
      : readTexts(fields.CanonicalUser, `${path}.CanonicalUser`).map((id) =>
          parseOwner(id, `${path}.CanonicalUser`),
        );
  const principals = [...keysAndAccounts, ...owners];
  if (principals.length === 0)
    throw new PolicyError(`${path} names no principal: give it AWS or CanonicalUser.`);
  return principals;
}

function parsePrincipal(text: string, path: string): Principal {
  if (text === "*") return { kind: "everyone" };
  const [, rootAccount] = rootArn.exec(text) ?? [];
  if (rootAccount !== undefined) return toAccount(rootAccount, path, text);
  const [, account, id] = userArn.exec(text) ?? [];
  if (id !== undefined) {
    if (!keyShape.test(id) || (account !== "" && !accountShape.test(account!))) throw invalid(path, text);
    return { kind: "key", accessKeyId: id, account: account === "" ? undefined : account };
  }
  if (ownerShape.test(text)) return { kind: "owner", id: text };
  // Account names are lowercase, and the ids of access keys that Store makes are uppercase.
  if (accountShape.test(text)) return { kind: "account", account: text };
  if (keyShape.test(text)) return { kind: "key", accessKeyId: text, account: undefined };
  throw invalid(path, text);
}

function toAccount(account: string, path: string, text: string): Principal {
  if (ownerShape.test(account)) return { kind: "owner", id: account };
  if (!accountShape.test(account)) throw invalid(path, text);
  return { kind: "account", account };
}

function parseOwner(id: string, path: string): Principal {
  if (!ownerShape.test(id)) throw invalid(path, id);
  return { kind: "owner", id };
}

function invalid(path: string, text: string): PolicyError {
  return new PolicyError(
    `${path} has the invalid principal "${shorten(text)}": use "*", an account, arn:aws:iam::ACCOUNT:root, ` +
      "an access key id, or arn:aws:iam:::user/ACCESSKEYID.",
  );
}

/** The last result: a policy may name many owners, and each comparison would compute a hash. */
let lastOwner = { account: "", id: "" };

function ownerIdOf(account: string): string {
  if (account !== lastOwner.account) lastOwner = { account, id: toOwner(account).id };
  return lastOwner.id;
}

/**
 * Naming an account delegates to it: an Allow applies to its keys with full access, since the others
 * are limited by their grants. A Deny applies to all its keys.
 */
export function includesCaller(
  principal: Principal,
  caller: PolicyCaller,
  effect: "Allow" | "Deny",
): boolean {
  if (principal.kind === "everyone") return true;
  if (caller.isAnonymous === true) return false;
  switch (principal.kind) {
    case "account":
      return principal.account === caller.account && (effect === "Deny" || caller.grants === undefined);
    case "owner":
      return principal.id === ownerIdOf(caller.account) && (effect === "Deny" || caller.grants === undefined);
    case "key":
      return (
        principal.accessKeyId === caller.accessKeyId &&
        (principal.account === undefined || principal.account === caller.account)
      );
  }
}
