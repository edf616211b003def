// Why TLS to the database could not be set up, and what to write in its URL.
import { StoreError } from "../../model/errors.ts";

/** A matter of settings on one of both sides: trying again does not help. */
export class TlsFault extends StoreError {}

export function tlsFault(kind: "refused" | "certificate", where: string, cause: unknown): TlsFault {
  const detail =
    kind === "refused"
      ? `The database at ${where} does not speak TLS. Turn it on there (ssl = on), or write ?sslmode=disable at the end of the records' URL to connect without it.`
      : `The certificate of the database at ${where} is not accepted: ${(cause as Error).message}. Name its authority with sslrootcert=/path/to/ca.pem in the records' URL.`;
  return new TlsFault("ServiceUnavailable", { detail, cause });
}

/** By the codes of OpenSSL and Node for a chain that does not end in a known authority, or has another name. */
export function isCertificateFault(error: unknown): boolean {
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS_CERT)/.test(code);
}
