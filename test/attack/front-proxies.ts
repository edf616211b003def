// Starts nginx and haproxy from Debian in front of a server, each with one kept connection to the
// server, so that every request of every client shares it.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { installFromDebian } from "../support/debian.ts";
import type { PortName } from "./target.ts";

export const proxyNames = ["nginx", "haproxy"] as const;
export type ProxyName = (typeof proxyNames)[number];

type Ports = Readonly<Record<PortName, number>>;

/** Debian's packages put their servers into a folder that PATH may not have. */
const programs: Readonly<Record<ProxyName, string>> = {
  nginx: "/usr/sbin/nginx",
  haproxy: "/usr/sbin/haproxy",
};
const packages: Readonly<Record<ProxyName, string>> = { nginx: "nginx-light", haproxy: "haproxy" };

const isInstalled = (name: ProxyName) => spawnSync(programs[name], ["-v"]).error === undefined;

/** Installs the proxies; returns those that this machine cannot have. */
export function installProxies(): readonly ProxyName[] {
  installFromDebian(() => proxyNames.filter((name) => !isInstalled(name)).map((name) => packages[name]));
  return proxyNames.filter((name) => !isInstalled(name));
}

/** Starts the proxy; returns its ports in the order of the server's. It ends with the test. */
export async function startProxy(
  t: Pick<TestContext, "after">,
  name: ProxyName,
  servers: Ports,
): Promise<Ports> {
  const folder = await mkdtemp(join(tmpdir(), `store-${name}-`));
  const names = Object.keys(servers) as PortName[];
  const free = await freePorts(names.length);
  const ports = Object.fromEntries(names.map((port, i) => [port, free[i]!])) as unknown as Ports;
  const file = join(folder, "proxy.conf");
  const lines = name === "nginx" ? nginxLines(folder, ports, servers) : haproxyLines(ports, servers);
  await writeFile(file, `${lines.join("\n")}\n`);
  const args = name === "nginx" ? ["-p", folder, "-e", "stderr", "-c", file] : ["-db", "-f", file];
  const child = spawn(programs[name], args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (piece: Buffer) => {
    log = (log + piece.toString()).slice(-10_000);
  });
  t.after(async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  });
  for (const port of free) {
    await untilOpen(port, () => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${log}`);
    });
  }
  return ports;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

async function freePorts(count: number): Promise<number[]> {
  const holders = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const holder of holders) {
    holder.listen(0, "127.0.0.1");
    await once(holder, "listening");
    ports.push((holder.address() as { port: number }).port);
  }
  for (const holder of holders) {
    holder.close();
    await once(holder, "close");
  }
  return ports;
}

/** Connects until the port accepts; `check` throws if it never will. */
async function untilOpen(port: number, check: () => void): Promise<void> {
  for (;;) {
    check();
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Settings that let as much as possible of a strange request through to the server. */
function nginxLines(folder: string, ports: Ports, servers: Ports): string[] {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const names = Object.keys(ports) as PortName[];
  return [
    "daemon off;",
    "worker_processes 1;",
    `pid ${folder}/nginx.pid;`,
    // The workers must be able to write into the folder, which belongs to the user of the test.
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    "events { worker_connections 512; }",
    "http {",
    "  access_log off;",
    ...temporary.map((kind) => `  ${kind}_temp_path ${folder}/${kind};`),
    "  client_max_body_size 0;",
    "  proxy_http_version 1.1;",
    "  proxy_request_buffering off;",
    "  proxy_buffering off;",
    "  ignore_invalid_headers off;",
    "  underscores_in_headers on;",
    "  merge_slashes off;",
    ...names.flatMap((name) => [
      `  upstream ${name} { server 127.0.0.1:${servers[name]}; keepalive 1; }`,
      `  server { listen 127.0.0.1:${ports[name]};`,
      "    location / {",
      `      proxy_pass http://${name};`,
      "      proxy_set_header Host $http_host;",
      '      proxy_set_header Connection "";',
      "      proxy_set_header Expect $http_expect;",
      "      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
      "    }",
      "  }",
    ]),
    "}",
  ];
}

function haproxyLines(ports: Ports, servers: Ports): string[] {
  const names = Object.keys(ports) as PortName[];
  return [
    "global",
    "  maxconn 512",
    "defaults",
    "  mode http",
    "  timeout connect 10s",
    "  timeout client 30s",
    "  timeout server 30s",
    "  option accept-invalid-http-request",
    "  option forwardfor",
    "  http-reuse always",
    ...names.flatMap((name) => [
      `listen ${name}`,
      `  bind 127.0.0.1:${ports[name]}`,
      `  server store 127.0.0.1:${servers[name]} pool-max-conn 1`,
    ]),
  ];
}
