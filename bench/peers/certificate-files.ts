// Creates a certificate for the run: no authority knows it, so clients do not verify it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../../test/support/certificate.ts";

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export function certificateFiles(directory: string): CertificateFiles {
  const pair = makeCertificate();
  const files = { certificate: join(directory, "tls.crt"), key: join(directory, "tls.key") };
  writeFileSync(files.certificate, pair.certificate);
  writeFileSync(files.key, pair.key, { mode: 0o600 });
  return files;
}
