// The HTTP handler of the S3 API: finds the operation, authenticates and authorizes the caller,
// runs the operation and writes the response.

import type { Caller } from "../access/decide.ts";
import type { Credentials } from "../access/keys/credentials.ts";
import type { Roles } from "../access/temporary/roles.ts";
import { createTokenVerifier } from "../access/temporary/verify.ts";
import type { AuditAggregator } from "../audit/aggregate.ts";
import type { RecordAudit } from "../audit/audit-log.ts";
import type { Engine } from "../engine/engine.ts";
import type { NotificationRules } from "../events/rules.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { nextRequestId } from "../http/server/request-id.ts";
import type { Exchange } from "../metrics/exchange.ts";
import { createS3Audit, isAudited } from "./audited-operations.ts";
import { authenticateAnonymous, isUnsigned } from "./auth/anonymous.ts";
import { authenticate } from "./auth/authenticate.ts";
import { authorize } from "./auth/authorize.ts";
import { createFailedSignatures, type FailureLimits } from "./auth/failed-signatures.ts";
import { type BudgetShare, createDocumentBudget } from "./body/document-budget.ts";
import { createPacing } from "./body/pacing.ts";
import { openPayload } from "./body/payload.ts";
import { type Call, loggedId, type S3Response } from "./call.ts";
import { errorResponse, faultLine, toS3Error } from "./error-response.ts";
import { S3Error } from "./errors.ts";
import { checkRefusedHeaders } from "./headers/metadata.ts";
import { type Operation, parseAddress, readOperation } from "./operation.ts";
import { corsHeaders, preflight } from "./operations/cors.ts";
import { operationHandlers } from "./operations/handlers.ts";
import { postObject } from "./operations/post-object.ts";
import { readRequest, type S3Request, withMovedHeaders } from "./request.ts";
import { isStsRequest } from "./sts/parameters.ts";
import { createStsHandler, type StsState, toDenial } from "./sts/respond.ts";

export interface S3Options {
  readonly engine: Engine;
  readonly credentials: Pick<Credentials, "find"> & Partial<Pick<Credentials, "bindGrants" | "dropGrants">>;
  /** If undefined, there are no roles and no STS. */
  readonly roles?: Roles | undefined;
  /** Base domains for virtual-hosted-style requests. */
  readonly domains: readonly string[];
  /** The only region that clients may name. Default: they may name any. */
  readonly region?: string | undefined;
  /** Memory budget for documents and form fields in memory; default: 64 MiB. */
  readonly documentBytes?: number | undefined;
  readonly now: () => number;
  /** Number of processes that share the rates of each access key; default: 1. */
  readonly processes?: number | undefined;
  /** @internal Waits between the chunks of a body; default: a timer. */
  readonly pause?: ((milliseconds: number) => Promise<void>) | undefined;
  /** Rate limit on wrong signatures. */
  readonly failureLimits?: FailureLimits | undefined;
  /** Called for every request whose signature is valid. */
  readonly onKeyUsed?: ((accessKeyId: string) => void) | undefined;
  /** Logs internal errors with the id of their request. */
  readonly log: (line: string) => void;
  readonly notifications?: Pick<NotificationRules, "replace"> | undefined;
  /** Whether every bucket has a full public access block. */
  readonly blocksPublicAccess?: boolean | undefined;
  /** Records administrative operations in the audit log. */
  readonly recordAudit?: RecordAudit | undefined;
  /** Combines denied requests in the audit log. Default: one of this handler. */
  readonly auditAggregator?: AuditAggregator | undefined;
  /** Called for every request when its response has ended. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** Facts about a request for metrics and logs, filled in while it is handled. */
interface RequestState {
  readonly id: string;
  readonly startTime: number;
  operation: Operation | undefined;
  stsAction: string | undefined;
  accessKeyId: string | undefined;
  errorCode: string | undefined;
}

interface SentResponse extends Pick<Exchange, "id" | "status" | "bytesOut" | "isWhole"> {
  readonly http: HttpRequest;
}

export function createS3Handler(options: S3Options): HttpHandler {
  const { engine, domains, log, now, onExchange, notifications, blocksPublicAccess } = options;
  const { region: configuredRegion } = options;
  // Built once: a spread for each request would create new hidden classes and slow down its users.
  const failures = createFailedSignatures(options.now, options.failureLimits);
  const authentication = { ...options, failures, tokens: createTokenVerifier() };
  const pacing = createPacing(options);
  const sts =
    options.roles && createStsHandler({ ...authentication, roles: options.roles, onCaller: pacing.enter });
  const budget = createDocumentBudget(options.documentBytes);
  const audit = options.recordAudit && createS3Audit(options.recordAudit, options.auditAggregator);
  const { credentials } = options;
  /** Binds grants of earlier versions, which have only a bucket name, before the first request. */
  let pendingGrantBinding = credentials
    .bindGrants?.((name) => engine.bucket(name))
    .catch((error: unknown) => log(`Could not bind grants of access keys to their buckets: ${String(error)}`))
    .then(() => {
      pendingGrantBinding = undefined;
    });

  async function respond(http: HttpRequest, state: RequestState): Promise<S3Response> {
    const rawRequest = readRequest(http);
    const request = withMovedHeaders(rawRequest);
    if (request.method === "OPTIONS") return preflight(engine, http, parseAddress(request, domains).bucket);
    if (request.path === "/" && isStsRequest(request) && parseAddress(request, domains).bucket === "")
      return respondSts(rawRequest, state);
    const operation = readOperation(request, domains);
    state.operation = operation;
    if (pendingGrantBinding !== undefined) await pendingGrantBinding;
    if (operation.name === "PostObject") {
      const onAuthenticated = async (caller: Caller, key: string) => {
        Object.assign(state, { accessKeyId: loggedId(caller), operation: { ...operation, key } });
        return pacing.enter(caller);
      };
      return withShare("form", (share) =>
        postObject(request, operation, { ...authentication, onAuthenticated, share }),
      );
    }
    const verified = isUnsigned(rawRequest)
      ? authenticateAnonymous(rawRequest)
      : await authenticate(rawRequest, authentication);
    const { caller } = verified;
    state.accessKeyId = loggedId(caller);
    const pace = caller.limits === undefined ? undefined : await pacing.enter(caller);
    const context = { engine, caller, request, now, blocksPublicAccess };
    const { bucket, canOverwrite } = await authorize(context, operation);
    const { name } = operation;
    checkRefusedHeaders(request, name, bucket);
    const response = await withShare("document", (share) => {
      const opened = openPayload(request, verified, share);
      const payload = pace === undefined ? opened : pace.payload(opened);
      const call: Call = {
        engine,
        request,
        operation,
        caller,
        bucket,
        canOverwrite,
        payload,
        configuredRegion,
        now,
        notifications,
        blocksPublicAccess,
      };
      return operationHandlers[name](call);
    });
    if (name === "DeleteBucket" && bucket !== undefined) await credentials.dropGrants?.(bucket);
    if (audit !== undefined && isAudited(name)) {
      const { id, accessKeyId } = state;
      await audit.recordSuccess({ id, operation, accessKeyId, http });
    }
    if (pace === undefined) return response;
    return { status: response.status, headers: response.headers, body: pace.outgoing(response.body) };
  }

  async function respondSts(request: S3Request, state: RequestState): Promise<S3Response> {
    if (sts === undefined) throw new S3Error("NotImplemented");
    const { id } = state;
    const call: StsState = { id, action: undefined, caller: undefined, issued: undefined, error: undefined };
    const response = await withShare("form", (share) => sts(request, share, call));
    const { caller, issued, error } = call;
    state.stsAction = call.action;
    state.accessKeyId = caller === undefined ? undefined : loggedId(caller);
    state.errorCode = error?.code;
    if (error?.code === "InternalFailure") log(faultLine(error, id));
    const audited = { id, operation: undefined, accessKeyId: state.accessKeyId, http: request.http };
    const denial = error && toDenial(error);
    if (denial !== undefined) audit?.recordDenial(audited, denial);
    if (error?.cause instanceof S3Error) state.accessKeyId ??= error.cause.details.AWSAccessKeyId;
    if (issued !== undefined) {
      const { subject, detail, by = audited.accessKeyId } = issued;
      audit?.recordCredentials({ ...audited, accessKeyId: by }, subject, detail);
    }
    return response;
  }

  async function withShare<T>(
    kind: "document" | "form",
    run: (share: BudgetShare) => Promise<T>,
  ): Promise<T> {
    const share = budget.open(kind);
    try {
      return await run(share);
    } finally {
      share.release();
    }
  }

  return async (http) => {
    const id = nextRequestId();
    const state: RequestState = {
      id,
      startTime: onExchange === undefined ? 0 : performance.now(),
      operation: undefined,
      stsAction: undefined,
      accessKeyId: undefined,
      errorCode: undefined,
    };
    let response: S3Response;
    try {
      response = await respond(http, state);
    } catch (error) {
      const s3Error = toS3Error(error);
      state.errorCode = s3Error.code;
      audit?.recordDenial({ id, operation: state.operation, accessKeyId: state.accessKeyId, http }, s3Error);
      // If the signature was refused, the log contains the access key that the client claimed.
      state.accessKeyId ??= s3Error.details.AWSAccessKeyId;
      if (s3Error.code === "InternalError") log(faultLine(error, id));
      response = errorResponse(s3Error, http, id);
    }
    const cors =
      http.header("origin") === undefined || http.method === "OPTIONS" ? [] : await corsHeadersOrNone(http);
    const { status } = response;
    return {
      status,
      headers: [["x-amz-request-id", id], ...response.headers, ...cors],
      body: response.body,
      onSent:
        onExchange && ((bytesOut, isWhole) => reportExchange(state, { id, http, status, bytesOut, isWhole })),
    } satisfies HttpResponse;
  };

  /** Lists each field: for a function that runs on every request, object spread would be slow. */
  function reportExchange(
    { startTime, operation, stsAction, accessKeyId, errorCode }: RequestState,
    response: SentResponse,
  ): void {
    const { http } = response;
    onExchange!({
      frontEnd: "s3",
      id: response.id,
      method: http.method,
      // Without an operation, only a few names are possible, because each becomes a metric label.
      operation: operation?.name ?? stsAction ?? (http.method === "OPTIONS" ? "Preflight" : "Unknown"),
      bucket: operation?.bucket || undefined,
      key: operation?.key || undefined,
      status: response.status,
      bytesIn: http.bytesRead(),
      bytesOut: response.bytesOut,
      milliseconds: performance.now() - startTime,
      accessKeyId,
      remoteAddress: http.address,
      errorCode,
      isWhole: response.isWhole,
    });
  }

  /** Returns CORS headers for an error response, so that web pages can read the error. */
  async function corsHeadersOrNone(http: HttpRequest): Promise<readonly (readonly [string, string])[]> {
    try {
      return await corsHeaders(engine, http, parseAddress(readRequest(http), domains).bucket);
    } catch {
      // The request cannot be parsed: no bucket is known, so no CORS rules apply.
      return [];
    }
  }
}
