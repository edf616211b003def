// Regions that a signature and a new bucket may name. Store has one location, so that any region is
// accepted, unless the server is configured with one.

/** The region of a server and of a bucket for which none is named. */
export const defaultRegion = "auto";

/** With dots, because some clients, such as git-annex, name their endpoint's host as the region. */
const wellFormed = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/;

/** `configured` is the only region of the server besides "auto", which Store itself signs with. */
export function isAcceptedRegion(region: string, configured: string | undefined): boolean {
  // Some clients sign with an empty region.
  if (region === "" || region === defaultRegion) return true;
  return configured === undefined ? isRegion(region) : region === configured;
}

/** As in S3, creating one's own bucket again is an error, except in these regions. */
export function mayCreateAgain(region: string | undefined): boolean {
  return region === undefined || region === defaultRegion || region === "us-east-1";
}

export function isRegion(text: string): boolean {
  return wellFormed.test(text);
}
