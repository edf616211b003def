// Lets the console manage access keys, with the same rules as `store key`.

import { parseDuration, parseGrant, rights } from "../../../access/grants.ts";
import { bindGrants } from "../../../access/keys/credential-grants.ts";
import {
  type Credential,
  createCredentials,
  type ListedCredential,
} from "../../../access/keys/credentials.ts";
import type { KeyUses } from "../../../access/keys/key-usage.ts";
import { CredentialError } from "../../../access/keys/new-credential.ts";
import type { ConsoleKeys } from "../../../console/api/administration/keys.ts";
import { ConsoleError } from "../../../console/response.ts";
import type { KeyDocument, KeySecretDocument } from "../../../console/wire-types.ts";
import type { Data } from "../../store/open-store.ts";

export function consoleKeys({ documents, secretKey, engine }: Data, uses: KeyUses): ConsoleKeys {
  const credentials = () => createCredentials(documents, secretKey(), Date.now);
  return {
    rights,
    async list() {
      return (await credentials().list()).map((key) => toKeyDocument(key, uses.lastUse(key.accessKeyId)));
    },
    async create({ name, account, grants, expires, limits, existing }) {
      return withConsoleErrors(async () => {
        const given = grants?.map(parseGrant);
        if (given?.length === 0) throw new CredentialError("A key needs at least one permission.");
        for (const { bucket } of given ?? []) {
          if (bucket === "*" || (await engine.bucket(bucket)) !== undefined) continue;
          throw new CredentialError(`There is no bucket "${bucket}".`);
        }
        const end = expires === undefined ? undefined : Date.now() + parseDuration(expires);
        const bound = given && (await bindGrants(given, (bucket) => engine.bucket(bucket)));
        const options = { name, account, grants: bound, expires: end, limits };
        return toKeySecretDocument(
          existing === undefined
            ? await credentials().create(options)
            : await credentials().import(existing, options),
        );
      });
    },
    async endGrants(bucket) {
      await credentials().dropGrants(bucket);
    },
    change: (accessKeyId, action) => credentials()[action](accessKeyId),
    async rotate(accessKeyId, keep) {
      return withConsoleErrors(async () => {
        const milliseconds = keep === undefined ? 0 : parseDuration(keep);
        const rotated = await credentials().rotate(accessKeyId, milliseconds);
        return rotated === undefined ? undefined : toKeySecretDocument(rotated);
      });
    },
  };
}

async function withConsoleErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof CredentialError) {
      throw new ConsoleError(400, error.message);
    }
    throw error;
  }
}

function toKeyDocument(key: ListedCredential, lastSeen: number | undefined): KeyDocument {
  const { accessKeyId, name, account, grants, created, expires, state, previousUntil, lastUsed, limits } =
    key;
  return {
    ...{ accessKeyId, name: name ?? null, account, created, state },
    grants: grants?.map(({ identity: _, ...grant }) => grant) ?? null,
    expires: expires ?? null,
    previousUntil: previousUntil ?? null,
    lastUsed: lastSeen ?? lastUsed ?? null,
    limits: limits ?? null,
  };
}

function toKeySecretDocument({ accessKeyId, secretAccessKey, previousUntil }: Credential): KeySecretDocument {
  return { accessKeyId, secretAccessKey, previousUntil: previousUntil ?? null };
}
