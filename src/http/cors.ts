// CORS headers from a bucket's rules: for preflight requests and for responses.
import { type CorsRule, corsRuleFor } from "../model/settings/cors.ts";
import type { HttpRequest } from "./server/listen.ts";

type Headers = readonly (readonly [string, string])[];

/** Returns undefined if the request is not a preflight request or no rule allows it. */
export function preflightHeaders(rules: readonly CorsRule[], http: HttpRequest): Headers | undefined {
  const origin = http.header("origin");
  const method = http.header("access-control-request-method");
  if (origin === undefined || method === undefined) return undefined;
  const headers = requestedHeaders(http);
  const rule = corsRuleFor(rules, { origin, method, headers });
  if (rule === undefined) return undefined;
  return [
    ...ruleHeaders(rule, origin),
    ...(headers.length === 0 ? [] : ([["access-control-allow-headers", headers.join(", ")]] as const)),
    ...(rule.maxAgeSeconds === undefined
      ? []
      : ([["access-control-max-age", String(rule.maxAgeSeconds)]] as const)),
  ];
}

/**
 * Returns the CORS headers for a response. They depend on the origin, so `Vary` is set for caches,
 * even if the request has no origin. A client that is not a browser may name another method and
 * headers, as in a preflight request, and gets the rule for these.
 */
export function corsResponseHeaders(rules: readonly CorsRule[], http: HttpRequest): Headers {
  if (rules.length === 0) return [];
  const origin = http.header("origin");
  const method = http.header("access-control-request-method") ?? http.method;
  const rule = origin && corsRuleFor(rules, { origin, method, headers: requestedHeaders(http) });
  return rule ? ruleHeaders(rule, origin) : [vary];
}

const vary: readonly [string, string] = [
  "vary",
  "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
];

function ruleHeaders(rule: CorsRule, origin: string): [string, string][] {
  const isForAll = rule.origins.includes("*");
  const headers: [string, string][] = [
    ["access-control-allow-origin", isForAll ? "*" : origin],
    ["access-control-allow-methods", rule.methods.join(", ")],
    [...vary],
  ];
  if (!isForAll) headers.push(["access-control-allow-credentials", "true"]);
  if (rule.exposed.length > 0) headers.push(["access-control-expose-headers", rule.exposed.join(", ")]);
  return headers;
}

function requestedHeaders(http: HttpRequest): string[] {
  return (http.header("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}
