// Compares this machine's clock with the database of a cluster and with servers on other machines.
import { isHere, type ServerRecord } from "../../servers/server-record.ts";
import { reachableUrl } from "./check-ports.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const warnMilliseconds = 5000;
/** S3 refuses signatures whose time differs by more than 15 minutes. */
const problemMilliseconds = 5 * 60_000;
const answerMilliseconds = 3000;

export function checkOffset(peer: string, offset: number): Finding {
  const check = "clock";
  const seconds = Math.round(offset / 1000);
  const cure = "Synchronize the clocks of all machines, for example with chrony.";
  const what = `The clock of ${peer} differs by ${seconds} s.`;
  if (Math.abs(offset) >= problemMilliseconds) return problem(check, what, cure);
  if (Math.abs(offset) >= warnMilliseconds) return warning(check, what, cure);
  return ok(check, `The clock agrees with ${peer}.`);
}

/** Servers of this machine share its clock. A server that does not answer is reported as a port. */
export async function checkPeerClocks(servers: readonly ServerRecord[]): Promise<Finding[]> {
  const others = servers.filter((server) => !isHere(server));
  const findings = await Promise.all(
    others.map(async (server) => {
      const offset = await readOffset(server);
      return offset === undefined ? [] : [checkOffset(`the server on ${server.host}`, offset)];
    }),
  );
  return findings.flat();
}

async function readOffset(server: ServerRecord): Promise<number | undefined> {
  const url = server.ports.find(({ name }) => name === "console")?.url;
  if (url === undefined) return undefined;
  const began = Date.now();
  try {
    const response = await fetch(new URL("/healthz", reachableUrl(server, url)), {
      signal: AbortSignal.timeout(answerMilliseconds),
    });
    await response.body?.cancel();
    const time = Date.parse(response.headers.get("date") ?? "");
    // The header has whole seconds: compare with the middle of the second and of the request.
    return Number.isNaN(time) ? undefined : time + 500 - (began + Date.now()) / 2;
  } catch {
    return undefined;
  }
}
