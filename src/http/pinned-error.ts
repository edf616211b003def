// Failures of a request to another server, with the names of RFC 9209 (Proxy-Status).

export type PinnedFault =
  | "connection_limit_reached"
  | "connection_refused"
  | "connection_terminated"
  | "connection_timeout"
  | "destination_unavailable"
  | "http_protocol_error"
  | "http_response_header_section_size"
  | "http_response_timeout"
  | "tls_certificate_error"
  | "tls_protocol_error";

export class PinnedRequestError extends Error {
  override readonly name = "PinnedRequestError";
  readonly fault: PinnedFault;

  /** The message continues a sentence: "fetch of … failed: it refused the connection". */
  constructor(fault: PinnedFault, message: string) {
    super(message);
    this.fault = fault;
  }

  /** Whether another address of the same host may work. */
  get isUnreachable(): boolean {
    return unreachableFaults.has(this.fault);
  }
}

const unreachableFaults: ReadonlySet<PinnedFault> = new Set([
  ...(["connection_refused", "connection_timeout", "destination_unavailable"] as const),
]);

const unreachableCodes = ["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"];
const certificateCodes = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/;

/** Names no address: the message is for a script, which need not learn addresses. */
export function describeFault(error: unknown): PinnedRequestError {
  if (error instanceof PinnedRequestError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED") {
    return new PinnedRequestError("connection_refused", "it refused the connection");
  }
  if (code === "ETIMEDOUT") {
    return new PinnedRequestError("connection_timeout", "no connection was made in time");
  }
  if (unreachableCodes.includes(code)) {
    return new PinnedRequestError("destination_unavailable", "it cannot be reached from this server");
  }
  if (certificateCodes.test(code)) {
    return new PinnedRequestError("tls_certificate_error", `its certificate is not valid (${code})`);
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) {
    return new PinnedRequestError("tls_protocol_error", "the TLS handshake failed");
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new PinnedRequestError("http_response_header_section_size", "its response headers are too large");
  }
  if (code.startsWith("HPE_")) {
    return new PinnedRequestError("http_protocol_error", "its response is not valid HTTP");
  }
  return new PinnedRequestError("connection_terminated", "it closed the connection");
}
