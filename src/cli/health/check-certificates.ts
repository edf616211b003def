// Checks when the certificates of running servers, and of --tls-cert, expire.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { formatDate } from "../../http/tls/certificate.ts";
import { dayMilliseconds } from "../../model/limits.ts";
import { isHere, type ServerRecord } from "../../servers/server-record.ts";
import { systemCode } from "../framework/failures.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const warnDays = 21;
const check = "certificates";

export function checkCertificates(servers: readonly ServerRecord[], given: string | undefined): Finding[] {
  const ofServers = servers.filter(isHere).flatMap(({ certificate }) => certificate ?? []);
  const files = [...new Set([...ofServers, ...(given === undefined ? [] : [given])])];
  if (files.length === 0) return [ok(check, "No server of this machine uses HTTPS.")];
  return files.map((file) => checkCertificate(file, Date.now()));
}

export function checkCertificate(file: string, now: number): Finding {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(readFileSync(file));
  } catch (error) {
    const isFileError = error instanceof Error && "syscall" in error;
    const why = isFileError ? systemCode(error) : "it is not a PEM certificate";
    return problem(check, `The certificate ${file} cannot be read: ${why}.`, "Check the file of --tls-cert.");
  }
  const until = Date.parse(certificate.validTo);
  const days = Math.floor((until - now) / dayMilliseconds);
  if (days < 0) {
    return problem(check, `The certificate ${file} expired on ${formatDate(until)}.`, renewal);
  }
  const what = `The certificate ${file} is valid until ${formatDate(until)}`;
  if (days < warnDays) return warning(check, `${what}, for ${days} more days.`, renewal);
  return ok(check, `${what}.`);
}

const renewal = "Renew it and replace the file: servers load the new one within seconds.";
