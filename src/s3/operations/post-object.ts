// PostObject: an upload by a form that a page shows, authorized by the policy its owner has signed.
import type { ByteStream, Engine } from "../../engine/engine.ts";
import { metadataFromHeaders } from "../../http/headers.ts";
import { encodePath, parseAmzTime, sign } from "../../http/sigv4.ts";
import { limits } from "../../model/limits.ts";
import { type AuthenticateOptions, cachedKey, countedCredential, sameText } from "../auth/authenticate.ts";
import { type Caller, reach } from "../auth/authorize.ts";
import { checkPolicy } from "../auth/post-policy.ts";
import { expectedChecksums } from "../body/checksums.ts";
import type { BudgetShare } from "../body/document-budget.ts";
import { boundaryOf, type Form, readForm } from "../body/form-data.ts";
import { xmlDocument } from "../body/xml-writer.ts";
import { answer, quoted, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { customerKeyOf } from "../headers/customer-key.ts";
import { classOf, customOf } from "../headers/metadata.ts";
import { expirationHeader } from "../headers/object-headers.ts";
import type { Operation } from "../operation.ts";
import type { S3Request } from "../request.ts";
import { storedHeaders } from "./objects.ts";

export interface PostOptions extends AuthenticateOptions {
  readonly engine: Engine;
  /** Pays for the fields. */
  readonly share: BudgetShare;
  /** Told whose form it is and of which object, once that is known. */
  readonly onKnown: (caller: Caller, key: string) => void;
}

export async function postObject(
  request: S3Request,
  operation: Operation,
  options: PostOptions,
): Promise<S3Response> {
  const { engine } = options;
  const form = await readForm(request.http.body(), boundaryOf(request.header("content-type")), options.share);
  const fields = new Map([...form.fields, ["bucket", operation.bucket]]);
  const caller = await authenticateForm(fields, options, () => request.http.address());
  const bucket = await reach(engine, caller, operation.bucket, "write");
  const key = keyOf(form);
  options.onKnown(caller, key);
  // The policy is about the key as it will be: what stands for the file's name is put in before.
  const span = checkPolicy(fields.get("policy") ?? "", new Map([...fields, ["key", key]]), options.now());
  const asHeaders = requestOf(request, fields);
  const outcome = await engine.put(operation.bucket, key, bounded(form, span), {
    event: "s3:ObjectCreated:Post",
    httpMetadata: metadataFromHeaders({ get: (name) => latin1(fields.get(name)) ?? null }),
    customMetadata: customOf(rawHeadersOf(fields)),
    storageClass: classOf(fields.get("x-amz-storage-class")),
    customerKey: customerKeyOf(asHeaders),
    checksums: expectedChecksums(asHeaders, { trailers: new Map() }),
  });
  if (outcome.outcome !== "stored") throw new S3Error("InternalError");
  const { record } = outcome;
  const headers = [...storedHeaders(record), ...expirationHeader({ bucket }, record)];
  return stored(request, operation.bucket, fields, headers, key, record.etag);
}

async function authenticateForm(
  fields: ReadonlyMap<string, string>,
  options: AuthenticateOptions,
  address: () => string,
): Promise<Caller> {
  const { regions, used } = options;
  const field = (name: string) => {
    const value = fields.get(name);
    if (value !== undefined && value !== "") return value;
    if (!fields.has("policy") && !fields.has("x-amz-signature")) throw new S3Error("AccessDenied");
    throw new S3Error("InvalidArgument", { message: `Bucket POST must contain a field named '${name}'.` });
  };
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
    !regions.includes(region!)
  ) {
    throw new S3Error("InvalidArgument", { message: "The credential of the form is not valid." });
  }
  const credential = await countedCredential(options, address, accessKeyId!);
  const scope = { day, region: region!, service };
  const given = field("x-amz-signature");
  const isSigned = credential.secrets.some((secret) =>
    sameText(sign(cachedKey(secret, scope), policy), given),
  );
  if (!isSigned) {
    options.failures?.note(address, accessKeyId!);
    throw new S3Error("SignatureDoesNotMatch", { details: { AWSAccessKeyId: accessKeyId! } });
  }
  used?.(credential.accessKeyId);
  return credential;
}

/** `${filename}` stands for what the visitor's file is called, without its folders. */
function keyOf({ fields, fileName = "" }: Form): string {
  const key = fields.get("key");
  if (key === undefined || key === "") {
    throw new S3Error("InvalidArgument", { message: "Bucket POST must contain a field named 'key'." });
  }
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form says it so.
  return key.replaceAll("${filename}", fileName.replace(/^.*[/\\]/s, ""));
}

/** The file, refused before its end when it is longer than the policy allows. */
function bounded(form: Form, { least, most }: { least: number; most: number }): ByteStream {
  const limit = Math.min(most, limits.singleWriteBytes);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const chunk of form.file()) {
      size += chunk.length;
      if (size > limit) throw new S3Error("EntityTooLarge");
      yield chunk;
    }
    if (size < least) throw new S3Error("EntityTooSmall");
  }
  return { chunks, cancel: async () => {} };
}

function latin1(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, "utf8").toString("latin1");
}

function rawHeadersOf(fields: ReadonlyMap<string, string>): string[] {
  return [...fields].flatMap(([name, value]) => [name, latin1(value)!]);
}

/** What other requests say in headers, a form says in fields. */
function requestOf(request: S3Request, fields: ReadonlyMap<string, string>): S3Request {
  return { ...request, header: (name) => latin1(fields.get(name)) };
}

function stored(
  request: S3Request,
  bucket: string,
  fields: ReadonlyMap<string, string>,
  headers: [string, string][],
  key: string,
  etag: string,
): S3Response {
  const location = `${request.http.scheme}://${request.header("host") ?? "localhost"}/${bucket}/${encodePath(key)}`;
  const redirect = fields.get("success_action_redirect") ?? fields.get("redirect");
  const target = redirect === undefined ? undefined : redirectTo(redirect, bucket, key, etag);
  if (target !== undefined) return answer(303, [...headers, ["location", target]]);
  const status = fields.get("success_action_status");
  if (status === "201") {
    const body = xmlDocument("PostResponse", [
      ["Location", location],
      ["Bucket", bucket],
      ["Key", key],
      ["ETag", quoted(etag)],
    ]);
    return answer(201, [...headers, ["location", location], ["content-type", "application/xml"]], body);
  }
  return answer(status === "200" ? 200 : 204, [...headers, ["location", location]]);
}

/** An address that is none is passed over. */
function redirectTo(text: string, bucket: string, key: string, etag: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) return undefined;
  const url = new URL(text);
  url.searchParams.set("bucket", bucket);
  url.searchParams.set("key", key);
  url.searchParams.set("etag", quoted(etag));
  return url.href;
}
