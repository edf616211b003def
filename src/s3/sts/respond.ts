// Answers requests to the AWS Security Token Service, on the port of the S3 API.
import type { Caller } from "../../access/decide.ts";
import type { Roles } from "../../access/temporary/roles.ts";
import { type AuthenticateOptions, authenticate } from "../auth/authenticate.ts";
import type { BudgetShare } from "../body/document-budget.ts";
import { type XmlElement, xmlDocumentIn } from "../body/xml-writer.ts";
import { answer, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import {
  assumeRole,
  assumeRoleWithWebIdentity,
  getCallerIdentity,
  getSessionToken,
  type StsAction,
  type StsContext,
  type StsResult,
  stsActions,
} from "./actions.ts";
import { StsError, toStsError } from "./errors.ts";
import { readParameters, type StsParameters } from "./parameters.ts";
import { createWebIdentity } from "./web-identity.ts";

export interface StsOptions extends AuthenticateOptions {
  readonly roles: Roles;
  /** Called when the signature is verified. Throws beyond the rate of the caller. */
  readonly onCaller?: ((caller: Caller) => Promise<unknown> | undefined) | undefined;
}

/** Facts about a request, filled in while it is answered. */
export interface StsState {
  readonly id: string;
  action: StsAction | undefined;
  caller: Caller | undefined;
  issued: StsResult["issued"];
  error: StsError | undefined;
}

export type StsHandler = (request: S3Request, share: BudgetShare, state: StsState) => Promise<S3Response>;

const version = "2011-06-15";
const namespace = "https://sts.amazonaws.com/doc/2011-06-15/";

export function createStsHandler(options: StsOptions): StsHandler {
  const { credentials, roles, now, failures } = options;
  const context: StsContext = { credentials, roles, now, verifyWebIdentity: createWebIdentity(now) };

  async function run(request: S3Request, parameters: StsParameters, state: StsState): Promise<StsResult> {
    const { action } = state;
    if (action === "AssumeRoleWithWebIdentity") return limited(request, parameters);
    const service = { name: "sts", bodyHash: parameters.bodyHash } as const;
    const isSigned = request.header("authorization") ?? request.query.get("X-Amz-Signature");
    if (isSigned === undefined) throw new StsError("MissingAuthenticationToken");
    const { caller } = await authenticate(request, { ...options, service });
    state.caller = caller;
    await options.onCaller?.(caller);
    switch (action) {
      case "AssumeRole":
        return assumeRole(context, caller, parameters);
      case "GetSessionToken":
        return getSessionToken(context, caller, parameters);
      case "GetCallerIdentity":
        return getCallerIdentity(caller);
      case undefined:
        throw new StsError("InvalidAction");
    }
  }

  /** Wrong ID tokens are limited like wrong signatures. */
  async function limited(request: S3Request, parameters: StsParameters): Promise<StsResult> {
    const address = () => request.http.address();
    // Nothing that the client chooses, such as the role, so that it cannot begin a new count.
    const subject = "web identity";
    failures?.check(address, subject);
    try {
      return await assumeRoleWithWebIdentity(context, parameters);
    } catch (error) {
      if (error instanceof StsError && error.status < 500) failures?.record(address, subject);
      throw error;
    }
  }

  return async (request, share, state) => {
    try {
      const parameters = await readParameters(request, share);
      state.action = readAction(parameters);
      const { elements, issued } = await run(request, parameters, state);
      state.issued = issued;
      return xml(200, `${state.action}Response`, [
        [`${state.action}Result`, elements],
        ["ResponseMetadata", [["RequestId", state.id]]],
      ]);
    } catch (error) {
      state.error = toStsError(error);
      return errorAnswer(state.error, state.id);
    }
  };
}

function readAction(parameters: StsParameters): StsAction {
  const name = parameters.get("Action");
  if (name === undefined) throw new StsError("MissingAction");
  const action = stsActions.find((one) => one === name);
  if (action === undefined)
    throw new StsError("InvalidAction", `The action is not supported; use ${stsActions.join(", ")}.`);
  if (parameters.get("Version") !== version)
    throw new StsError("InvalidAction", `The parameter Version must be ${version}.`);
  return action;
}

function errorAnswer({ code, status, message }: StsError, id: string): S3Response {
  return xml(status, "ErrorResponse", [
    [
      "Error",
      [
        ["Type", status < 500 ? "Sender" : "Receiver"],
        ["Code", code],
        ["Message", message],
      ],
    ],
    ["RequestId", id],
  ]);
}

function xml(status: number, name: string, elements: readonly XmlElement[]): S3Response {
  // Credentials must not stay in a cache.
  const headers = [
    ["content-type", "text/xml"],
    ["cache-control", "no-store"],
  ] as const;
  return answer(status, headers, xmlDocumentIn(namespace, name, elements));
}

/** The error as one of S3, for the record of denied requests. */
export function toDenial({ cause, code }: StsError): S3Error | undefined {
  if (cause instanceof S3Error) return cause;
  const isDenied =
    code === "AccessDenied" || code === "InvalidIdentityToken" || code === "ExpiredTokenException";
  return isDenied ? new S3Error("AccessDenied") : undefined;
}
