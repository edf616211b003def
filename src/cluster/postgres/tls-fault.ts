// Errors of TLS connections to the database. Each states how to change the URL to fix it.
import { StoreError } from "../../model/errors.ts";

/** A configuration error. Retrying does not help. */
export class TlsFault extends StoreError {}

export function tlsFault(kind: "refused" | "certificate", where: string, cause: unknown): TlsFault {
  const detail =
    kind === "refused"
      ? `The database at ${where} does not support TLS. Turn it on there (ssl = on), or add ?sslmode=disable to the database URL to connect without TLS.`
      : `The certificate of the database at ${where} is not trusted: ${(cause as Error).message}. Add sslrootcert=/path/to/ca.pem with its authority to the database URL.`;
  return new TlsFault("ServiceUnavailable", { detail, cause });
}

/** Whether OpenSSL or Node reported an unknown certificate authority or a wrong host name. */
export function isCertificateFault(error: unknown): boolean {
  const { code = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS_CERT)/.test(code);
}
