// Checks that a certificate and a key can be used. Error messages never contain the key.
import { createPrivateKey, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { secureContext, type TlsPair } from "./tls.ts";

export interface PairText {
  readonly certificate: string;
  readonly key: string;
}

export interface CheckedPair {
  readonly pair: TlsPair;
  /** Host names in the certificate, for messages. */
  readonly subject: string;
  /** End of the certificate's validity, in milliseconds since the epoch. */
  readonly until: number;
}

/** The certificate or the key is invalid. The message continues a sentence after the file name. */
export class PairError extends Error {
  override readonly name = "PairError";
  readonly part: keyof PairText;
  constructor(part: keyof PairText, message: string, cause?: unknown) {
    super(message, { cause });
    this.part = part;
  }
}

export function checkPair({ certificate, key }: PairText, now: number): CheckedPair {
  const leaf = parseCertificate(certificate);
  const from = Date.parse(leaf.validFrom);
  const until = Date.parse(leaf.validTo);
  if (until <= now) throw new PairError("certificate", `has expired, on ${formatDate(until)}.`);
  if (from > now) throw new PairError("certificate", `is not valid before ${formatDate(from)}.`);
  if (!leaf.checkPrivateKey(parsePrivateKey(key)))
    throw new PairError("key", "does not belong to the certificate.");
  const pair = { certificate, key, ticketKeys: randomBytes(48).toString("base64") };
  try {
    secureContext(pair);
  } catch (error) {
    throw new PairError("certificate", `cannot be used: ${(error as Error).message}`, error);
  }
  return { pair, subject: formatSubject(leaf), until };
}

function parseCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new PairError(
      "certificate",
      "contains no certificate: use PEM with -----BEGIN CERTIFICATE-----.",
      error,
    );
  }
}

function parsePrivateKey(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isEncrypted = /^-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(text);
    throw new PairError(
      "key",
      isEncrypted
        ? "is encrypted, and the server has no passphrase: decrypt it with openssl pkey."
        : "contains no private key: use PEM with -----BEGIN PRIVATE KEY-----.",
      error,
    );
  }
}

function formatSubject({ subject, subjectAltName }: X509Certificate): string {
  return (
    subjectAltName?.replaceAll(/(DNS|IP Address):/g, "") ?? subject?.replace(/^.*CN=/s, "") ?? "(no name)"
  );
}

export function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
