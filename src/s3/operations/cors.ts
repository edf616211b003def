// CORS: the configuration document, preflight requests, and response headers for web pages.
import type { Engine } from "../../engine/engine.ts";
import { corsResponseHeaders, preflightHeaders } from "../../http/cors.ts";
import type { HttpRequest } from "../../http/server/listen.ts";
import type { CorsRule } from "../../model/settings/cors.ts";
import { corsFlaws } from "../../model/settings/rule-check.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { refuseFlaws } from "./lifecycle.ts";

export async function getBucketCors({ bucket }: Call): Promise<S3Response> {
  const cors = bucket?.settings.cors;
  if (cors === undefined) throw new S3Error("NoSuchCORSConfiguration");
  return answerXml("CORSConfiguration", cors.map(corsElement));
}

export function corsElement(rule: CorsRule): XmlElement {
  const each = (name: string, values: readonly string[]) => values.map((value): XmlElement => [name, value]);
  return [
    "CORSRule",
    [
      ["ID", rule.id],
      ...each("AllowedMethod", rule.methods),
      ...each("AllowedOrigin", rule.origins),
      ...each("AllowedHeader", rule.headers),
      ...each("ExposeHeader", rule.exposed),
      ["MaxAgeSeconds", rule.maxAgeSeconds],
    ],
  ];
}

export async function putBucketCors({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await readWholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  const rules = readCors(readXml(bytes, "CORSConfiguration"));
  refuseFlaws(corsFlaws(rules));
  await engine.changeSettings(operation.bucket, { cors: rules });
  return answer(200);
}

/** Reads the document without checking the values of its rules. */
export function readCors(document: XmlNode): CorsRule[] {
  const rules = findChildren(document, "CORSRule").map(readRule);
  if (rules.length === 0) throw new S3Error("MalformedXML");
  return rules;
}

export async function deleteBucketCors({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { cors: undefined });
  return answer(204);
}

function readRule(node: XmlNode): CorsRule {
  const all = (name: string) => findChildren(node, name).map(({ text }) => text.trim());
  const age = childText(node, "MaxAgeSeconds")?.trim();
  return {
    id: childText(node, "ID"),
    methods: all("AllowedMethod"),
    origins: all("AllowedOrigin"),
    headers: all("AllowedHeader"),
    exposed: all("ExposeHeader"),
    maxAgeSeconds: age === undefined ? undefined : /^\d{1,9}$/.test(age) ? Number(age) : Number.NaN,
  };
}

/** Answers a preflight request. It needs no signature, because browsers cannot sign it. */
export async function preflight(engine: Engine, http: HttpRequest, bucket: string): Promise<S3Response> {
  const origin = http.header("origin");
  const method = http.header("access-control-request-method");
  if (origin === undefined || method === undefined) {
    throw new S3Error("BadRequest", {
      message:
        "Insufficient information. Origin and Access-Control-Request-Method request headers are needed.",
    });
  }
  const headers = preflightHeaders(await readCorsRules(engine, bucket), http);
  if (headers === undefined) {
    throw new S3Error("AccessForbidden", {
      message:
        "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    });
  }
  return answer(200, headers);
}

/** Returns CORS headers for the response to a cross-origin request; empty if no rule matches. */
export async function corsHeaders(
  engine: Engine,
  http: HttpRequest,
  bucket: string,
): Promise<readonly (readonly [string, string])[]> {
  if (http.header("origin") === undefined || bucket === "") return [];
  return corsResponseHeaders(await readCorsRules(engine, bucket), http);
}

async function readCorsRules(engine: Engine, bucket: string): Promise<readonly CorsRule[]> {
  return (await engine.bucket(bucket))?.settings.cors ?? [];
}
