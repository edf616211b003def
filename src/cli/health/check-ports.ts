// Checks the ports: those of running servers must answer, the default ports must be free.
import { connect, createServer } from "node:net";
import { isHere, type ServerRecord } from "../../servers/server-record.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Default ports of `store serve`, with the options that change them. */
export const defaultPorts: readonly (readonly [port: number, name: string, option: string])[] = [
  [8787, "scripts", "port"],
  [9000, "s3", "s3-port"],
  [9001, "console", "console-port"],
  [9002, "public", "public-port"],
];

const connectMilliseconds = 2000;

export async function checkPorts(
  servers: readonly ServerRecord[],
  ports: typeof defaultPorts = defaultPorts,
): Promise<Finding[]> {
  if (servers.length > 0) return Promise.all(servers.map(checkServer));
  return [await checkFree(ports)];
}

async function checkServer(server: ServerRecord): Promise<Finding> {
  const check = "ports";
  const name = `The server on ${server.host} (process ${server.pid})`;
  const answers = await Promise.all(
    server.ports.map(async (port) => ({
      ...port,
      answers: await canConnect(reachableUrl(server, port.url)),
    })),
  );
  const silent = answers.filter((port) => !port.answers).map((port) => `${port.name} ${port.url}`);
  if (silent.length === 0) {
    return ok(check, `${name} answers: ${answers.map((port) => `${port.name} ${port.url}`).join(", ")}.`);
  }
  const what = `${name} does not answer on ${silent.join(", ")}.`;
  if (isHere(server)) return problem(check, what, "Read the server's log, and restart the server.");
  return warning(check, what, "Check the server, or whether a firewall separates the machines.");
}

/** A wildcard address is reached by the name of its machine. */
export function reachableUrl(server: Pick<ServerRecord, "host">, url: string): URL {
  const parsed = new URL(url);
  if (parsed.hostname === "0.0.0.0") parsed.hostname = isHere(server) ? "127.0.0.1" : server.host;
  if (parsed.hostname === "[::]") parsed.hostname = isHere(server) ? "[::1]" : server.host;
  return parsed;
}

function canConnect({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || (protocol === "https:" ? 443 : 80)) });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.setTimeout(connectMilliseconds, () => end(false));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}

async function checkFree(ports: typeof defaultPorts): Promise<Finding> {
  const check = "ports";
  const states = await Promise.all(ports.map(async ([port]) => isFree(port)));
  const taken = ports.filter((_, i) => !states[i]);
  if (taken.length === 0) {
    return ok(
      check,
      `No server of this store runs; the ports ${ports.map(([port]) => port).join(", ")} are free.`,
    );
  }
  const list = taken.map(([port, name]) => `${port} (${name})`).join(", ");
  return warning(
    check,
    `No server of this store runs, and another program uses the default port ${list}.`,
    `Stop that program, or choose other ports: store serve ${taken.map(([, , option]) => `--${option} PORT`).join(" ")}`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
