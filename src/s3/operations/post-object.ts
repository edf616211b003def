// PostObject: an upload from an HTML form, authorized by a signed policy.
import { anonymous, type Caller } from "../../access/decide.ts";
import type { ByteStream, Engine } from "../../engine/engine.ts";
import { metadataFromHeaders } from "../../http/headers.ts";
import { encodePath, parseAmzTime, sign } from "../../http/sigv4.ts";
import { limits } from "../../model/limits.ts";
import { isUnsigned } from "../auth/anonymous.ts";
import { type AuthenticateOptions, cachedKey, constantTimeEqual } from "../auth/authenticate.ts";
import { requireAccess } from "../auth/authorize.ts";
import { findSigner } from "../auth/find-signer.ts";
import { checkPolicy } from "../auth/post-policy.ts";
import { oldSignature } from "../auth/signature-claim.ts";
import { expectedChecksums, givenChecksum } from "../body/checksums.ts";
import type { BudgetShare } from "../body/document-budget.ts";
import { type Form, parseBoundary, readForm } from "../body/form-data.ts";
import type { Pace } from "../body/pacing.ts";
import { xmlDocument } from "../body/xml-writer.ts";
import { answer, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { cannotOverwrite, createOnly } from "../headers/conditions.ts";
import { readCustomerKey } from "../headers/customer-key.ts";
import { readLock } from "../headers/lock.ts";
import { checkRefusedFields, readCustomMetadata } from "../headers/metadata.ts";
import { expirationHeader } from "../headers/object-headers.ts";
import { parseStorageClass, readPassthrough } from "../headers/passthrough.ts";
import { readEncryption } from "../headers/server-side-encryption.ts";
import { readTagField } from "../headers/tags.ts";
import type { Operation } from "../operation.ts";
import { isAcceptedRegion } from "../regions.ts";
import type { S3Request } from "../request.ts";
import { storedHeaders } from "./objects.ts";

/** A form with one of these is not anonymous. */
const signatureFields = [
  ...["policy", "x-amz-algorithm", "x-amz-credential", "x-amz-signature", "x-amz-security-token"],
  ...["awsaccesskeyid", "signature"],
];

export interface PostOptions extends AuthenticateOptions {
  readonly engine: Engine;
  /** Whether every bucket has a full public access block. */
  readonly blocksPublicAccess?: boolean | undefined;
  /** Memory budget for the fields. */
  readonly share: BudgetShare;
  /** Called when the caller and the key are known. Returns the pace of a key with limits. */
  readonly onAuthenticated: (caller: Caller, key: string) => Promise<Pace | undefined>;
}

export async function postObject(
  request: S3Request,
  operation: Operation,
  options: PostOptions,
): Promise<S3Response> {
  const { engine } = options;
  const form = await readForm(
    request.http.body(),
    parseBoundary(request.header("content-type")),
    options.share,
  );
  const fields = new Map([...form.fields, ["bucket", operation.bucket]]);
  const isSigned = !isUnsigned(request) || signatureFields.some((name) => fields.has(name));
  const caller = isSigned ? await authenticateForm(fields, options, () => request.http.address()) : anonymous;
  const key = resolveKey(form);
  const formRequest = withFieldsAsHeaders(request, fields);
  const requestTags = readTagField(fields.get("tagging"));
  const { now, blocksPublicAccess } = options;
  const context = { engine, caller, request: withPolicyHeaders(request, fields), now, blocksPublicAccess };
  const wanted = { name: "PostObject", key, requestTags: requestTags ?? new Map() } as const;
  const { bucket, canOverwrite } = await requireAccess(context, operation.bucket, wanted);
  const pace = await options.onAuthenticated(caller, key);
  // The policy applies to the key in which ${filename} is already replaced.
  const sizeLimits = isSigned
    ? checkPolicy(fields.get("policy") ?? "", new Map([...fields, ["key", key]]), options.now())
    : { minBytes: 0, maxBytes: Number.POSITIVE_INFINITY };
  checkRefusedFields(fields, bucket);
  const noTrailers = { trailers: new Map() };
  const checksum = givenChecksum(formRequest, noTrailers);
  const outcome = await engine.put(operation.bucket, key, limitSize(form, sizeLimits, pace), {
    event: "s3:ObjectCreated:Post",
    condition: canOverwrite ? undefined : createOnly,
    httpMetadata: metadataFromHeaders({ get: (name) => toLatin1(fields.get(name)) ?? null }),
    customMetadata: readCustomMetadata([...fields].flatMap(([name, value]) => [name, toLatin1(value)!])),
    storageClass: parseStorageClass(fields.get("x-amz-storage-class")),
    customerKey: readCustomerKey(formRequest),
    encryption: readEncryption(formRequest),
    checksums: expectedChecksums(formRequest, noTrailers, checksum),
    tags: requestTags,
    lock: readLock({ request: formRequest, bucket }),
    passthrough: readPassthrough(formRequest, checksum?.algorithm),
  });
  if (outcome.outcome !== "stored") throw cannotOverwrite();
  const { record } = outcome;
  const headers = [...storedHeaders(record), ...expirationHeader({ bucket }, record)];
  return storedResponse(request, operation.bucket, fields, headers, key, record.etag);
}

async function authenticateForm(
  fields: ReadonlyMap<string, string>,
  options: AuthenticateOptions,
  address: () => string,
): Promise<Caller> {
  const { region: ownRegion, onKeyUsed } = options;
  const field = (name: string) => {
    const value = fields.get(name);
    if (value !== undefined && value !== "") return value;
    if (!fields.has("policy") && !fields.has("x-amz-signature")) throw new S3Error("AccessDenied");
    throw new S3Error("InvalidArgument", { message: `Bucket POST must contain a field named '${name}'.` });
  };
  if (fields.has("awsaccesskeyid") && !fields.has("x-amz-algorithm")) throw oldSignature(options);
  const policy = field("policy");
  if (field("x-amz-algorithm") !== "AWS4-HMAC-SHA256") {
    throw new S3Error("InvalidArgument", { message: "x-amz-algorithm must be AWS4-HMAC-SHA256." });
  }
  const [accessKeyId, day, region, service, end, ...more] = field("x-amz-credential").split("/");
  const time = field("x-amz-date");
  const isScope = service === "s3" && end === "aws4_request" && more.length === 0;
  if (
    !isScope ||
    day !== time.slice(0, 8) ||
    parseAmzTime(time) === undefined ||
    !isAcceptedRegion(region!, ownRegion)
  ) {
    throw new S3Error("InvalidArgument", { message: "x-amz-credential or x-amz-date is not valid." });
  }
  const token = fields.get("x-amz-security-token");
  const signer = await findSigner(options, address, { accessKeyId: accessKeyId!, token });
  const scope = { day, region: region!, service };
  const given = field("x-amz-signature");
  const isSigned = signer.secrets.some((secret) =>
    constantTimeEqual(sign(cachedKey(secret, scope), policy), given),
  );
  if (!isSigned) {
    options.failures?.record(address, signer.accessKeyId);
    throw new S3Error("SignatureDoesNotMatch", { details: { AWSAccessKeyId: accessKeyId! } });
  }
  onKeyUsed?.(signer.accessKeyId);
  return signer;
}

/** Replaces `${filename}` by the name of the uploaded file, without its folders. */
function resolveKey({ fields, fileName = "" }: Form): string {
  const key = fields.get("key");
  if (key === undefined || key === "") {
    throw new S3Error("InvalidArgument", { message: "Bucket POST must contain a field named 'key'." });
  }
  // biome-ignore lint/suspicious/noTemplateCurlyInString: S3 defines this placeholder.
  return key.replaceAll("${filename}", fileName.replace(/^.*[/\\]/s, ""));
}

/** Returns a stream that fails if the size of the file is outside the limits of the policy. */
function limitSize(
  form: Form,
  { minBytes, maxBytes }: { minBytes: number; maxBytes: number },
  pace: Pace | undefined,
): ByteStream {
  const limit = Math.min(maxBytes, limits.singleWriteBytes);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const chunk of pace?.incoming(form.file()) ?? form.file()) {
      size += chunk.length;
      if (size > limit) throw new S3Error("EntityTooLarge");
      yield chunk;
    }
    if (size < minBytes) throw new S3Error("EntityTooSmall");
  }
  return { chunks, cancel: async () => {} };
}

function toLatin1(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, "utf8").toString("latin1");
}

/** Returns the request as a bucket policy sees it: fields stand for the headers of a put. */
function withPolicyHeaders(request: S3Request, fields: ReadonlyMap<string, string>): S3Request {
  const header = (name: string) => {
    if (!name.startsWith("x-amz-")) return request.header(name);
    return fields.get(name === "x-amz-acl" || name === "x-amz-tagging" ? name.slice(6) : name);
  };
  return { ...request, header };
}

/** Returns the request with form fields in place of its headers. */
function withFieldsAsHeaders(request: S3Request, fields: ReadonlyMap<string, string>): S3Request {
  return { ...request, header: (name) => toLatin1(fields.get(name)) };
}

function storedResponse(
  request: S3Request,
  bucket: string,
  fields: ReadonlyMap<string, string>,
  headers: readonly (readonly [string, string])[],
  key: string,
  etag: string,
): S3Response {
  const location = `${request.http.scheme}://${request.header("host") ?? "localhost"}/${bucket}/${encodePath(key)}`;
  const redirect = fields.get("success_action_redirect") ?? fields.get("redirect");
  const target = redirect === undefined ? undefined : redirectUrl(redirect, bucket, key, etag);
  if (target !== undefined) return answer(303, [...headers, ["location", target]]);
  const status = fields.get("success_action_status");
  if (status === "201") {
    const body = xmlDocument("PostResponse", [
      ["Location", location],
      ["Bucket", bucket],
      ["Key", key],
      ["ETag", quoteEtag(etag)],
    ]);
    return answer(201, [...headers, ["location", location], ["content-type", "application/xml"]], body);
  }
  return answer(status === "200" ? 200 : 204, [...headers, ["location", location]]);
}

/** Returns the redirect URL; undefined if it is invalid, because S3 ignores invalid redirects. */
function redirectUrl(text: string, bucket: string, key: string, etag: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) return undefined;
  const url = new URL(text);
  url.searchParams.set("bucket", bucket);
  url.searchParams.set("key", key);
  url.searchParams.set("etag", quoteEtag(etag));
  return url.href;
}
