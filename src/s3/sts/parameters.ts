// Reads the parameters of an STS request, from a form body or the query.
import { sha256 } from "../../http/sigv4.ts";
import type { BudgetShare } from "../body/document-budget.ts";
import { readWholePayload } from "../body/payload.ts";
import { maxParameters, type S3Request, splitParameters } from "../request.ts";
import { StsError } from "./errors.ts";

export interface StsParameters {
  get(name: string): string | undefined;
  /** Throws ValidationError if the parameter is missing. */
  require(name: string): string;
  names(): Iterable<string>;
  /** SHA-256 of the body, which the signature covers. */
  readonly bodyHash: string;
}

export const maxBodyBytes = 64 * 1024;

/** Whether the request is for STS: a form or a query with an action, outside of buckets. */
export function isStsRequest({ method, path, query, header }: S3Request): boolean {
  if (path !== "/") return false;
  if (method === "GET") return query.has("Action");
  return method === "POST" && (header("content-type") ?? "").startsWith("application/x-www-form-urlencoded");
}

export async function readParameters(
  { method, query, http, header }: S3Request,
  share: BudgetShare,
): Promise<StsParameters> {
  const length = /^\d{1,16}$/.test(header("content-length") ?? "")
    ? Number(header("content-length"))
    : undefined;
  const source = { length, chunks: () => http.body(), cancel: async () => {} };
  const payload = { source, share, trailers: new Map<string, string>(), bufferedBytes: () => undefined };
  const body = http.hasBody ? await readWholePayload(payload, maxBodyBytes) : Buffer.alloc(0);
  const pairs = method === "POST" ? parseForm(body.toString("utf8")) : query.pairs;
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (values.has(name)) throw new StsError("ValidationError", "A parameter is given twice.");
    values.set(name, value);
  }
  return {
    get: (name) => values.get(name),
    require(name) {
      const value = values.get(name);
      if (value !== undefined && value !== "") return value;
      throw new StsError("ValidationError", `The parameter ${name} is missing.`);
    },
    names: () => values.keys(),
    bodyHash: sha256(body),
  };
}

function parseForm(text: string): Iterable<readonly [string, string]> {
  if (splitParameters(text) !== undefined) return new URLSearchParams(text);
  throw new StsError("ValidationError", `The request has more than ${maxParameters} parameters.`);
}

const unsupported =
  /^(Policy|PolicyArns|Tags|TransitiveTagKeys|SerialNumber|TokenCode|ProvidedContexts|ProviderId)(\.|$)/;

/** Parameters that only some actions have. */
const policyParameter = "Policy";

/** Refuses parameters that would limit or change the credentials, because they have no effect. */
export function refuseUnsupported(
  parameters: StsParameters,
  { isPolicyRead }: { readonly isPolicyRead: boolean },
): void {
  for (const name of parameters.names()) {
    if (!unsupported.test(name) || (isPolicyRead && name === policyParameter)) continue;
    const instead = isPolicyRead
      ? "limit the session with Policy, or the grants of the role"
      : "leave it out";
    throw new StsError("ValidationError", `The parameter ${name} is not supported: ${instead}.`);
  }
}

export function readDuration(
  parameters: StsParameters,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const text = parameters.get("DurationSeconds");
  if (text === undefined) return Math.min(fallback, max);
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= min && seconds <= max) return seconds;
  throw new StsError("ValidationError", `DurationSeconds must be a number from ${min} to ${max}.`);
}

/** The name of a role, at the end of `arn:aws:iam::ACCOUNT:role/NAME`. */
export function readRoleName(parameters: StsParameters): string {
  const arn = parameters.require("RoleArn");
  const match = /^arn:[a-z-]+:iam::[^:/]{0,64}:role\/(?:[^:]{1,512}\/)?([^/:]{1,64})$/.exec(
    arn.slice(0, 1024),
  );
  if (match !== null) return match[1]!;
  throw new StsError("ValidationError", "RoleArn must have the form arn:aws:iam::ACCOUNT:role/NAME.");
}

export function readSessionName(parameters: StsParameters): string {
  const name = parameters.require("RoleSessionName");
  if (/^[\w+=,.@-]{2,64}$/.test(name)) return name;
  throw new StsError(
    "ValidationError",
    "Value at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@-]{2,64}",
  );
}
