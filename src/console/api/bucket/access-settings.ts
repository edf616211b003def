// Settings that decide who reaches a bucket: policy, public access block, publication; and its
// default encryption.
import type { Bucket, BucketSettings, SettingName } from "../../../model/bucket.ts";
import type { PublicAccessBlock } from "../../../model/settings/public-access-block.ts";
import type { Publication } from "../../../model/settings/publication.ts";
import { ConsoleError } from "../../response.ts";
import type { Fields } from "../../route.ts";
import type { ConsoleBuckets } from "./console-buckets.ts";

export interface SettingChange {
  readonly name: SettingName;
  readonly changes: BucketSettings;
}

/** Undefined if the kind is not one of these settings. */
export function parseAccessChange(
  kind: string,
  given: Fields,
  bucket: Bucket,
  buckets: ConsoleBuckets,
): SettingChange | undefined {
  switch (kind) {
    case "policy":
      return { name: kind, changes: { policy: parsePolicyText(given, bucket, buckets) } };
    case "publicAccessBlock":
      return { name: kind, changes: { publicAccessBlock: parseBlock(given) } };
    case "publication":
      return { name: kind, changes: { publication: parsePublication(given) } };
    case "encryption": {
      const isOn = given.flag("isOn");
      if (isOn) buckets.requireEncryptionKey();
      return { name: kind, changes: { encryption: isOn ? { algorithm: "AES256" } : undefined } };
    }
    default:
      return undefined;
  }
}

/** An empty text removes the policy. */
function parsePolicyText(
  given: Fields,
  { name, settings }: Bucket,
  buckets: ConsoleBuckets,
): string | undefined {
  const text = given.text("policy").trim();
  if (text === "") return undefined;
  const { isPublic } = buckets.parsePolicy(text, name);
  if (isPublic && settings.publicAccessBlock?.blockPublicPolicy === true)
    throw new ConsoleError(409, "The public access block of the bucket refuses public policies.", {
      hint: "Limit the policy to accounts or keys, or change the block first.",
    });
  return text;
}

const switches = [
  "blockPublicAcls",
  "ignorePublicAcls",
  "blockPublicPolicy",
  "restrictPublicBuckets",
] as const;

function parseBlock(given: Fields): PublicAccessBlock | undefined {
  const block = given.object("publicAccessBlock");
  if (block === undefined) return undefined;
  const values = switches.map((name) => [name, block[name]] as const);
  if (values.some(([, value]) => typeof value !== "boolean"))
    throw new ConsoleError(400, `"publicAccessBlock" must have ${switches.join(", ")}.`);
  if (values.every(([, value]) => value === false)) return undefined;
  return Object.fromEntries(values) as unknown as PublicAccessBlock;
}

/** Undefined makes the bucket private. The module of public buckets checks the values. */
function parsePublication(given: Fields): Publication | undefined {
  const publication = given.object("publication");
  if (publication === undefined) return undefined;
  const text = (name: string) => {
    const value = publication[name] ?? "";
    if (typeof value !== "string") throw new ConsoleError(400, `"${name}" must be a string.`);
    return value.trim() === "" ? {} : { [name]: value.trim() };
  };
  const domains = publication.domains ?? [];
  if (!Array.isArray(domains) || !domains.every((domain) => typeof domain === "string"))
    throw new ConsoleError(400, '"domains" must be strings.');
  const names = domains.map((domain) => domain.trim().toLowerCase()).filter((domain) => domain !== "");
  return {
    ...{ ...text("index"), ...text("notFound"), ...text("cacheControl") },
    ...(names.length === 0 ? {} : { domains: [...new Set(names)] }),
  };
}
