// `store key temp`: creates temporary credentials from an access key. With the id and secret of the
// key, it works without the store.

import { parseDuration } from "../../../access/grants.ts";
import {
  createTemporaryCredentials,
  type Issuer,
  maxLifetimeSeconds,
  TemporaryCredentialsError,
} from "../../../access/temporary/token.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { withData } from "../../store/open-store.ts";
import { openCredentials } from "./key-store.ts";
import { readSecret, readTextFile } from "./secret-input.ts";
import { bindToBuckets, grantOption, parseGrants } from "./settings.ts";
import { noSuchKey } from "./state.ts";

export const tempCommand: Command = {
  name: "temp",
  summary: "Create temporary credentials from an access key",
  details:
    "The credentials allow what the access key, --grant and --policy all allow. They end when they expire, or\n" +
    "when the access key is disabled, deleted or rotated. With --parent-id the command needs no store: it signs with the\n" +
    "given secret, which it reads from a file or stdin.",
  usage: [
    "--key ID [--grant BUCKET:RIGHTS]... [--expires TIME] [--env]",
    "--parent-id ID [--parent-secret-file FILE] [--grant BUCKET:RIGHTS]... [--expires TIME] [--env]",
  ],
  options: {
    key: { value: "ID", summary: "access key of this store" },
    "parent-id": { value: "ID", summary: "access key of any store, whose secret you have" },
    "parent-secret-file": { value: "FILE", summary: "file with the secret of --parent-id; default: stdin" },
    grant: { ...grantOption, summary: "limit to a bucket or a part of it; default: all that the key may do" },
    operation: {
      value: "NAME",
      summary: "limit to an S3 operation, such as GetObject; needs --grant",
      repeatable: true,
    },
    policy: { value: "FILE", summary: "limit to what this session policy allows, JSON in the form of AWS" },
    expires: { value: "TIME", summary: "lifetime, such as 15m, at most 7d; default: 1h" },
    env: { summary: "print lines that set environment variables of AWS clients" },
  },
  examples: [
    "store key temp --key STOREABCDEFGHIJKLMNO --grant photos/2026/*:read --expires 1h",
    "store key temp --key STOREABCDEFGHIJKLMNO --grant photos:read,list --env",
    "store key temp --key STOREABCDEFGHIJKLMNO --policy session.json",
    "store key temp --parent-id STOREABCDEFGHIJKLMNO --parent-secret-file secret.txt --json",
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const grants = parseGrants(options.texts("grant"));
    const operations = options.texts("operation");
    if (operations.length > 0 && grants.length === 0) throw usageError("--operation needs --grant.");
    const lifetimeSeconds = parseLifetime(options.text("expires") ?? "1h");
    const policyFile = options.text("policy");
    const policy = policyFile === undefined ? undefined : await readTextFile(policyFile, "The policy");
    const issuer = await findIssuer(invocation);
    const made = createOrUsageError(issuer, {
      ...{ lifetimeSeconds, now: Date.now() },
      grants: grants.length === 0 ? undefined : grants,
      operations: operations.length === 0 ? undefined : operations,
      policy,
    });
    const { accessKeyId, secretAccessKey, sessionToken } = made;
    const expiration = new Date(made.expires).toISOString();
    if (options.flag("env")) {
      const variables = [
        `AWS_ACCESS_KEY_ID=${accessKeyId}`,
        `AWS_SECRET_ACCESS_KEY=${secretAccessKey}`,
        `AWS_SESSION_TOKEN=${sessionToken}`,
      ];
      return output.line(variables.map((text) => `export ${text}`).join("\n"));
    }
    // The form of credential_process in AWS configuration files.
    if (output.isJson) {
      const [AccessKeyId, SecretAccessKey, SessionToken] = [accessKeyId, secretAccessKey, sessionToken];
      return output.json({ Version: 1, AccessKeyId, SecretAccessKey, SessionToken, Expiration: expiration });
    }
    await output.fields([
      ["access key id", accessKeyId],
      ["secret access key", secretAccessKey],
      ["session token", sessionToken],
      ["expires", output.time(made.expires)],
    ]);
  },
};

function createOrUsageError(...[issuer, options]: Parameters<typeof createTemporaryCredentials>) {
  try {
    return createTemporaryCredentials(issuer, options);
  } catch (error) {
    throw error instanceof TemporaryCredentialsError ? usageError(error.message) : error;
  }
}

async function findIssuer(invocation: Invocation): Promise<Issuer> {
  const { options } = invocation;
  const [keyId, parentId] = [options.text("key"), options.text("parent-id")];
  if ((keyId === undefined) === (parentId === undefined))
    throw usageError("Specify exactly one access key: --key ID or --parent-id ID.");
  const file = options.text("parent-secret-file");
  if (parentId !== undefined) return { id: parentId, secret: await readSecret(invocation, file) };
  if (file !== undefined) throw usageError("--parent-secret-file needs --parent-id.");
  return withData(invocation, { absent: "refuse" }, async (data) => {
    const key = await openCredentials(data).find(keyId!);
    if (key === undefined) throw noSuchKey(keyId!);
    if (key.state !== "active") throw new CommandError(`The access key "${keyId}" is ${key.state}.`);
    await bindToBuckets(data, parseGrants(options.texts("grant")));
    await data.recordAudit("create temporary credentials", key.accessKeyId);
    return { id: key.accessKeyId, secret: key.secretAccessKey };
  });
}

function parseLifetime(text: string): number {
  const milliseconds = parseOrUsageError(() => parseDuration(text));
  if (milliseconds <= maxLifetimeSeconds * 1000) return milliseconds / 1000;
  throw usageError(`--expires must be at most 7d, not "${text}".`);
}
