// Checks URLs of providers: https, or http on this machine, so that nobody on the network can
// replace the keys of a provider.
import { isLoopback } from "../http/loopback.ts";

/** Returns what is wrong with the URL of an issuer; undefined if the URL can be used. */
export function issuerFlaw(issuer: string): string | undefined {
  const flaw = providerUrlFlaw(issuer);
  if (flaw !== undefined) return flaw;
  return /[?#]/.test(issuer) ? "must not have a query or a fragment" : undefined;
}

const maxUrlLength = 2048;

export function providerUrlFlaw(text: string): string | undefined {
  if (text.length > maxUrlLength) return `is longer than ${maxUrlLength} characters`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return "is not a URL";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  const isLocal = isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
  if (url.protocol === "https:" || (url.protocol === "http:" && isLocal)) return undefined;
  return "must start with https:// (http:// is allowed only for localhost)";
}
