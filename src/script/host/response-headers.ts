// Filters the headers of a script's response. Only the server sets framing and connection headers:
// it knows the length of the body and whether the connection stays open.
import { hopByHopHeaders } from "../../http/headers.ts";

/** Headers that a script cannot set: hop-by-hop, or derived from the body by the server. */
const serverHeaders = [...hopByHopHeaders, "content-length"];

/** Headers that are dropped when empty. Not `Allow`: empty, it means that no method is allowed. */
const nonEmptyHeaders = (
  "accept-ranges access-control-allow-credentials access-control-allow-headers " +
  "access-control-allow-methods access-control-allow-origin access-control-expose-headers " +
  "access-control-max-age age alt-svc cache-control cdn-cache-control clear-site-data " +
  "content-disposition content-encoding content-language content-location content-range " +
  "content-security-policy content-security-policy-report-only content-type " +
  "cross-origin-embedder-policy cross-origin-opener-policy cross-origin-resource-policy date etag " +
  "expires last-modified link location permissions-policy pragma referrer-policy refresh retry-after " +
  "server server-timing set-cookie strict-transport-security timing-allow-origin vary www-authenticate " +
  "x-content-type-options x-frame-options"
).split(" ");

/** Both lists in one map, so that each header needs only one lookup. */
const rules: ReadonlyMap<string, "never" | "with a value"> = new Map([
  ...serverHeaders.map((name) => [name, "never"] as const),
  ...nonEmptyHeaders.map((name) => [name, "with a value"] as const),
]);

export interface ResponseInfo {
  readonly method: string;
  readonly status: number;
  readonly hasBody: boolean;
}

/** Control characters that Headers accepts, but HTTP does not allow. */
const controlCharacters = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Names must be in lower case, as Headers stores them. */
export function sentHeaders(
  headers: Iterable<readonly [string, string]>,
  response: ResponseInfo,
): [string, string][] {
  const list: [string, string][] = [];
  for (const [name, value] of headers) {
    if (controlCharacters.test(value)) {
      throw new TypeError(`The header "${name}" cannot be sent: its value contains a control character.`);
    }
    const rule = rules.get(name);
    if (rule === undefined || (rule === "with a value" && value !== "")) list.push([name, value]);
    else if (name === "content-length" && isHeadLength(value, response)) list.push([name, value]);
  }
  return list;
}

/** Whether Content-Length is kept: in a HEAD response it announces the length for GET. */
function isHeadLength(value: string, { method, status, hasBody }: ResponseInfo): boolean {
  return method === "HEAD" && !hasBody && status !== 204 && status !== 304 && /^[0-9]{1,15}$/.test(value);
}
