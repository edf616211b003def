// CORS: the configuration as a document, preflight requests, and the headers of answers to pages.
import type { Engine } from "../engine/engine.ts";
import type { HttpRequest } from "../http/listen.ts";
import { type CorsRule, corsRuleFor } from "../model/cors.ts";
import { corsFlaws } from "../model/rule-check.ts";
import { answer, answerXml, type Call, type S3Response } from "./call.ts";
import { checkDocument } from "./checksums.ts";
import { S3Error } from "./errors.ts";
import { refuseFlaws } from "./lifecycle.ts";
import { wholePayload } from "./payload.ts";
import type { XmlElement } from "./xml.ts";
import { childrenOf, readXml, textOf, type XmlNode } from "./xml-reader.ts";

export async function getBucketCors({ bucket }: Call): Promise<S3Response> {
  const cors = bucket?.settings.cors;
  if (cors === undefined) throw new S3Error("NoSuchCORSConfiguration");
  const each = (name: string, values: readonly string[]) => values.map((value): XmlElement => [name, value]);
  return answerXml(
    "CORSConfiguration",
    cors.map(
      (rule): XmlElement => [
        "CORSRule",
        [
          ["ID", rule.id],
          ...each("AllowedMethod", rule.methods),
          ...each("AllowedOrigin", rule.origins),
          ...each("AllowedHeader", rule.headers),
          ...each("ExposeHeader", rule.exposed),
          ["MaxAgeSeconds", rule.maxAgeSeconds],
        ],
      ],
    ),
  );
}

export async function putBucketCors({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await wholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  const rules = childrenOf(readXml(bytes, "CORSConfiguration"), "CORSRule").map(readRule);
  if (rules.length === 0) throw new S3Error("MalformedXML");
  refuseFlaws(corsFlaws(rules));
  await engine.changeSettings(operation.bucket, { cors: rules });
  return answer(200);
}

export async function deleteBucketCors({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { cors: undefined });
  return answer(204);
}

function readRule(node: XmlNode): CorsRule {
  const all = (name: string) => childrenOf(node, name).map(({ text }) => text.trim());
  const age = textOf(node, "MaxAgeSeconds")?.trim();
  return {
    id: textOf(node, "ID"),
    methods: all("AllowedMethod"),
    origins: all("AllowedOrigin"),
    headers: all("AllowedHeader"),
    exposed: all("ExposeHeader"),
    maxAgeSeconds: age === undefined ? undefined : /^\d{1,9}$/.test(age) ? Number(age) : Number.NaN,
  };
}

/** A browser asks before it sends: answered without a signature, since it cannot send one. */
export async function preflight(engine: Engine, http: HttpRequest, bucket: string): Promise<S3Response> {
  const origin = http.header("origin");
  const method = http.header("access-control-request-method");
  if (origin === undefined || method === undefined) {
    throw new S3Error("BadRequest", {
      message:
        "Insufficient information. Origin and Access-Control-Request-Method request headers are needed.",
    });
  }
  const headers = namesIn(http.header("access-control-request-headers"));
  const rule = corsRuleFor(await rulesOf(engine, bucket), { origin, method, headers });
  if (rule === undefined) {
    throw new S3Error("CORSForbidden", {
      message:
        "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    });
  }
  return answer(200, [
    ...ruleHeaders(rule, origin),
    ...(headers.length === 0 ? [] : ([["access-control-allow-headers", headers.join(", ")]] as const)),
    ...(rule.maxAgeSeconds === undefined
      ? []
      : ([["access-control-max-age", String(rule.maxAgeSeconds)]] as const)),
  ]);
}

/** For the answer to a request that a page has sent; none when no rule allows it. */
export async function corsHeaders(
  engine: Engine,
  http: HttpRequest,
  bucket: string,
): Promise<readonly (readonly [string, string])[]> {
  const origin = http.header("origin");
  if (origin === undefined || bucket === "") return [];
  const rule = corsRuleFor(await rulesOf(engine, bucket), { origin, method: http.method, headers: [] });
  return rule === undefined ? [] : ruleHeaders(rule, origin);
}

async function rulesOf(engine: Engine, bucket: string): Promise<readonly CorsRule[]> {
  return (await engine.bucket(bucket))?.settings.cors ?? [];
}

function ruleHeaders(rule: CorsRule, origin: string): [string, string][] {
  const isForAll = rule.origins.includes("*");
  const headers: [string, string][] = [
    ["access-control-allow-origin", isForAll ? "*" : origin],
    ["access-control-allow-methods", rule.methods.join(", ")],
    ["vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"],
  ];
  if (!isForAll) headers.push(["access-control-allow-credentials", "true"]);
  if (rule.exposed.length > 0) headers.push(["access-control-expose-headers", rule.exposed.join(", ")]);
  return headers;
}

function namesIn(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}
