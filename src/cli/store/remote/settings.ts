// The settings of a bucket as documents of S3: how each is read, replaced and removed.
import type { BucketSettings, SettingName } from "../../../model/bucket.ts";
import type { Tags } from "../../../model/tags.ts";
import { childText, findChild, findChildren, type XmlNode } from "../../../s3/body/xml-reader.ts";
import { readTags, tagSetElement } from "../../../s3/headers/tags.ts";
import { encryptionElements, readEncryption } from "../../../s3/operations/bucket-encryption.ts";
import { corsElement, readCors } from "../../../s3/operations/cors.ts";
import { readLifecycle } from "../../../s3/operations/lifecycle.ts";
import { ruleElement } from "../../../s3/operations/lifecycle-document.ts";
import { objectLockElements, readObjectLock } from "../../../s3/operations/object-lock.ts";
import { CommandError } from "../../framework/command-error.ts";
import { documentText, parseDocument, type RemoteClient } from "./client.ts";
import { isCode } from "./errors.ts";

interface SettingDocument<Value> {
  /** Name of the query parameter. */
  readonly resource: string;
  /** Codes of a bucket that does not have the setting. */
  readonly absent: readonly string[];
  parse(text: string, host: string): Value | undefined;
  format(value: Value): string;
}

type Settings = Required<{ [Name in SettingName]: NonNullable<BucketSettings[Name]> }>;
type RemoteSettingName = Extract<
  SettingName,
  "versioning" | "objectLock" | "tags" | "encryption" | "policy" | "cors" | "lifecycle" | "publicAccessBlock"
>;

export function readTagDocument(document: XmlNode): Tags {
  return readTags(findChildren(findChild(document, "TagSet"), "Tag"));
}

const accessSwitches = [
  ["BlockPublicAcls", "blockPublicAcls"],
  ["IgnorePublicAcls", "ignorePublicAcls"],
  ["BlockPublicPolicy", "blockPublicPolicy"],
  ["RestrictPublicBuckets", "restrictPublicBuckets"],
] as const;

/** Versioning comes first: Object Lock needs it. */
const documents: { readonly [Name in RemoteSettingName]: SettingDocument<Settings[Name]> } = {
  versioning: {
    resource: "versioning",
    absent: [],
    parse(text, host) {
      const status = childText(parseDocument(text, "VersioningConfiguration", host), "Status");
      return status === "Enabled" ? "on" : status === "Suspended" ? "suspended" : undefined;
    },
    format: (versioning) =>
      documentText("VersioningConfiguration", [["Status", versioning === "on" ? "Enabled" : "Suspended"]]),
  },
  objectLock: {
    resource: "object-lock",
    absent: ["ObjectLockConfigurationNotFoundError", "NoSuchObjectLockConfiguration"],
    parse: (text, host) => readObjectLock(parseDocument(text, "ObjectLockConfiguration", host)),
    format: (setting) => documentText("ObjectLockConfiguration", objectLockElements(setting)),
  },
  tags: {
    resource: "tagging",
    absent: ["NoSuchTagSet"],
    parse: (text, host) => [...readTagDocument(parseDocument(text, "Tagging", host))],
    format: (tags) => documentText("Tagging", [tagSetElement(tags)]),
  },
  encryption: {
    resource: "encryption",
    absent: ["ServerSideEncryptionConfigurationNotFoundError"],
    parse: (text, host) => readEncryption(parseDocument(text, "ServerSideEncryptionConfiguration", host)),
    format: (setting) => documentText("ServerSideEncryptionConfiguration", encryptionElements(setting)),
  },
  policy: {
    resource: "policy",
    absent: ["NoSuchBucketPolicy"],
    parse: (text) => text,
    format: (text) => text,
  },
  cors: {
    resource: "cors",
    absent: ["NoSuchCORSConfiguration"],
    parse: (text, host) => readCors(parseDocument(text, "CORSConfiguration", host)),
    format: (rules) => documentText("CORSConfiguration", rules.map(corsElement)),
  },
  lifecycle: {
    resource: "lifecycle",
    absent: ["NoSuchLifecycleConfiguration"],
    parse: (text, host) => readLifecycle(parseDocument(text, "LifecycleConfiguration", host)),
    format: (rules) => documentText("LifecycleConfiguration", rules.map(ruleElement)),
  },
  publicAccessBlock: {
    resource: "publicAccessBlock",
    absent: ["NoSuchPublicAccessBlockConfiguration"],
    parse(text, host) {
      const document = parseDocument(text, "PublicAccessBlockConfiguration", host);
      const isOn = (name: string) => childText(document, name) === "true";
      const [a, b, c, d] = accessSwitches.map(([element]) => isOn(element));
      return { blockPublicAcls: a!, ignorePublicAcls: b!, blockPublicPolicy: c!, restrictPublicBuckets: d! };
    },
    format: (block) =>
      documentText(
        "PublicAccessBlockConfiguration",
        accessSwitches.map(([element, name]) => [element, block[name]]),
      ),
  },
};

const remoteNames = Object.keys(documents) as RemoteSettingName[];

function isRemote(name: SettingName): name is RemoteSettingName {
  return Object.hasOwn(documents, name);
}

/** A service may not have every setting: only a setting that is read alone must exist there. */
const unsupported = ["NotImplemented", "MethodNotAllowed"];

export async function readSettings(
  client: RemoteClient,
  bucket: string,
  names: readonly SettingName[] = remoteNames,
): Promise<BucketSettings> {
  const wanted = names.filter(isRemote);
  const read = await Promise.all(
    wanted.map(async (name) => {
      const { resource, absent, parse } = documents[name];
      try {
        const { document } = await client.sendWithRetries({ method: "GET", bucket, query: [[resource, ""]] });
        return [name, parse(document, client.host)] as const;
      } catch (error) {
        const isAbsent = isCode(error, absent) || (wanted.length > 1 && isCode(error, unsupported));
        if (isAbsent) return [name, undefined] as const;
        throw error;
      }
    }),
  );
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** Throws before anything is changed if a setting has no form in S3. */
export async function changeSettings(
  client: RemoteClient,
  bucket: string,
  changes: BucketSettings,
): Promise<void> {
  const given = Object.keys(changes) as SettingName[];
  const local = given.find((name) => !isRemote(name));
  if (local !== undefined) {
    throw new CommandError(`S3 has no request for this setting of a bucket ("${local}").`, {
      hint: "Run the command on the server's machine with --data DIR, or use the console.",
    });
  }
  for (const name of remoteNames) if (given.includes(name)) await change(client, bucket, name, changes);
}

async function change(
  client: RemoteClient,
  bucket: string,
  name: RemoteSettingName,
  changes: BucketSettings,
): Promise<void> {
  const { resource, format } = documents[name] as SettingDocument<unknown>;
  const query = [[resource, ""]] as const;
  const value = changes[name];
  if (value === undefined || (name === "lifecycle" && changes.lifecycle?.length === 0)) {
    await client.sendWithRetries({ method: "DELETE", bucket, query });
    return;
  }
  const headers = name === "policy" ? { "content-type": "application/json" } : {};
  await client.write({ bucket, query, headers, text: format(value) });
}
