// Parses the source of an import: a folder, an S3 service, or miniflare's state.
import { isAbsolute, resolve } from "node:path";
import { parseScheme } from "../../model/names/location.ts";
import type { S3Endpoint } from "../../s3-client/client.ts";
import { parseS3Endpoint } from "../../s3-client/url.ts";
import type { Invocation } from "../framework/command.ts";
import { type CommandError, usageError } from "../framework/command-error.ts";
import { refuseUrl } from "../framework/path-argument.ts";

export type ImportOrigin =
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "s3"; readonly endpoint: S3Endpoint; readonly sessionToken: string | undefined }
  | { readonly kind: "miniflare"; readonly folder: string; readonly directory: string };

export function parseImportOrigin({ parameters, environment, directory }: Invocation): ImportOrigin {
  const text = parameters[0] ?? "";
  if (text.startsWith(".") || isAbsolute(text)) return { kind: "folder", folder: text };
  if (text.startsWith("miniflare:")) {
    const folder = text.slice("miniflare:".length);
    refuseUrl({ label: "miniflare:", text: folder });
    return { kind: "miniflare", folder, directory: resolve(directory, folder) };
  }
  if (/^(s3|https?):\/\//.test(text)) {
    const endpoint = parseS3Endpoint(addCredentials(text, environment), endpointError);
    return { kind: "s3", endpoint, sessionToken: environment.AWS_SESSION_TOKEN || undefined };
  }
  const scheme = parseScheme(text);
  throw usageError(`"${scheme ?? text}" is not a folder, an S3 service or miniflare's state.`, [
    "A folder starts with ./ or /: ./pictures",
    "An S3 service: https://s3.example.com/bucket/prefix",
    "miniflare's state: miniflare:.wrangler",
  ]);
}

/** Adds credentials from the environment to `https://host/bucket` or `s3://host/bucket`. */
export function addCredentials(text: string, environment: Invocation["environment"]): string {
  const [, scheme = "", rest = ""] = /^([a-z0-9]+):\/\/(.*)$/s.exec(text)!;
  const query = rest.includes("?") ? "&" : "?";
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION;
  const settings = [
    ...(scheme === "s3" ? [] : [`tls=${scheme === "https"}`]),
    ...(region === undefined || /[?&]region=/.test(rest) ? [] : [`region=${encodeURIComponent(region)}`]),
  ];
  const full = settings.length === 0 ? rest : `${rest}${query}${settings.join("&")}`;
  if (/^[^/?#]*@/.test(rest)) return `s3://${full}`;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = environment;
  if (!id || !secret) {
    throw usageError("There is no access key for the S3 service.", [
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.",
    ]);
  }
  return `s3://${encodeURIComponent(id)}:${encodeURIComponent(secret)}@${full}`;
}

function endpointError(why: string): CommandError {
  return usageError(`The address of the S3 service is not valid: ${why}.`, [
    "Write: https://host:port/bucket/prefix, or s3://host:port/bucket/prefix?region=us-east-1",
  ]);
}
