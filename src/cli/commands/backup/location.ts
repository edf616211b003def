// Parses the location of backups: a folder, or a prefix of a bucket on an S3 service. Credentials
// come from the environment, because other users can see the arguments of a process.
import { parseScheme } from "../../../model/names/location.ts";
import type { RepositoryOptions } from "../../../repository/repository.ts";
import { parseS3Endpoint } from "../../../s3-client/url.ts";
import type { Invocation } from "../../framework/command.ts";
import { type CommandError, usageError } from "../../framework/command-error.ts";
import { pathArgument } from "../../framework/path-argument.ts";
import { addCredentials } from "../import-arguments.ts";

export type BackupLocation =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "s3"; readonly service: Pick<RepositoryOptions, "endpoint" | "sessionToken"> };

export const s3Form = "s3://host:port/bucket/prefix";

export function parseBackupLocation(invocation: Invocation, label: "--to" | "--from"): BackupLocation {
  const { options, environment, command } = invocation;
  const text = options.text(label.slice(2));
  if (text === undefined || text === "") {
    throw usageError(`store ${command} needs a folder or an S3 service: ${label} DIR or ${label} ${s3Form}`);
  }
  const scheme = parseScheme(text);
  if (scheme === undefined || !["s3:", "http:", "https:"].includes(scheme) || !text.includes("://")) {
    return {
      kind: "folder",
      path: pathArgument(invocation, { label, text, expected: "a folder or s3://…" }),
    };
  }
  if (/^[a-z0-9]+:\/\/[^/?#]*@/i.test(text)) {
    throw usageError(`${label} must not contain an access key: other users can see arguments.`, [
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.",
    ]);
  }
  const endpoint = parseS3Endpoint(
    addCredentials(addHost(text, label, environment), environment),
    addressError,
  );
  return { kind: "s3", service: { endpoint, sessionToken: environment.AWS_SESSION_TOKEN || undefined } };
}

/** Completes `s3://bucket/prefix` with the host of AWS_ENDPOINT_URL, as other tools do. */
function addHost(text: string, label: string, environment: Invocation["environment"]): string {
  const [, bucket = "", rest = ""] = /^s3:\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
  if (bucket === "") return text;
  const service = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL;
  if (service) {
    if (/^https?:\/\/[^/?#@]+\/?$/i.test(service)) return `${service.replace(/\/$/, "")}/${bucket}${rest}`;
    throw usageError("AWS_ENDPOINT_URL is not the address of an S3 service.", "Write: https://host:port");
  }
  if (/[.:\]]/.test(bucket) || bucket.toLowerCase() === "localhost") return text;
  throw usageError(`${label} names the bucket "${bucket}", but no S3 service.`, [
    `Write: ${s3Form}`,
    `Or set the service: AWS_ENDPOINT_URL=https://s3.example.com`,
  ]);
}

function addressError(why: string): CommandError {
  return usageError(`The address of the S3 service is not valid: ${why}.`, [
    `Write: ${s3Form}, or ${s3Form}?region=us-east-1`,
  ]);
}

/** Throws if an option is given that only works with an S3 service. */
export function refuseForFolders({ options }: Invocation, names: readonly string[], hint: string): void {
  const given = names.find((name) => options.flag(name));
  if (given !== undefined) throw usageError(`--${given} only works with an S3 service (s3://…).`, hint);
}
