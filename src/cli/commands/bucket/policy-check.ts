// Tells whether a caller would be allowed an action, for `store bucket policy check`.
import { isIP } from "node:net";
import { anonymous, type Caller } from "../../../access/decide.ts";
import { createCredentials } from "../../../access/keys/credentials.ts";
import { decideAccess } from "../../../s3/auth/authorize.ts";
import { type BucketOperationName, findOperationOf } from "../../../s3/operation-rights.ts";
import { parseQuery } from "../../../s3/request.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import type { Data } from "../../store/open-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";

export interface AccessCheck {
  readonly bucket: string;
  readonly action: string;
  readonly operation: BucketOperationName;
  readonly key: string | undefined;
  readonly prefix: string | undefined;
  /** Undefined: an anonymous caller. */
  readonly accessKeyId: string | undefined;
  readonly address: string;
  readonly scheme: "http" | "https";
}

export function parseCheck({ options }: Invocation, bucket: string): AccessCheck {
  const action = options.text("action");
  if (action === undefined) throw usageError("store bucket policy check needs --action.");
  const operation = findOperationOf(action);
  if (operation === undefined) throw usageError(`No operation has the action "${action}".`);
  const address = options.text("address") ?? "127.0.0.1";
  if (isIP(address) === 0) throw usageError(`"${address}" is not an address.`);
  return {
    ...{ bucket, action, operation, address, key: options.text("key"), prefix: options.text("prefix") },
    accessKeyId: options.text("as"),
    scheme: options.flag("tls") ? "https" : "http",
  };
}

export async function checkAccess(data: Data, asked: AccessCheck): Promise<boolean> {
  const { engine } = data;
  const caller = await findCaller(data, asked.accessKeyId);
  const bucket = await requireBucket(engine, asked.bucket);
  const http = { address: () => asked.address, scheme: asked.scheme };
  const request = { header: () => undefined, query: parseQuery(""), http };
  const { operation: name, key = "", prefix, action } = asked;
  const wanted = { name, key, prefix, needs: { actions: [action] } };
  const decision = await decideAccess({ engine, caller, request, now: Date.now }, bucket, wanted);
  return decision !== "denied";
}

async function findCaller({ documents, secretKey }: Data, accessKeyId: string | undefined): Promise<Caller> {
  if (accessKeyId === undefined) return anonymous;
  const credential = await createCredentials(documents, secretKey(), Date.now).find(accessKeyId);
  if (credential === undefined) {
    throw new CommandError(`There is no access key "${accessKeyId}".`, { hint: "List them: store key list" });
  }
  return credential;
}
