// Three PostgreSQL servers on loopback under Patroni with one etcd, in strict synchronous mode. The
// processes of a node are killed or frozen together, as when a machine fails.
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { descendantsOf } from "../script/inside.ts";
import { postgresPrograms } from "./install.ts";
import { nodeSettings, type PatroniNode } from "./patroni-settings.ts";
import {
  type Daemon,
  eventually,
  freePort,
  type Grounds,
  type Identity,
  isRunning,
  killPid,
} from "./sandbox.ts";

export interface Patroni {
  /** URL with all hosts, without a database name at the end. */
  readonly url: string;
  readonly nodes: readonly PatroniNode[];
  /** Returns the URL of one node with administrator rights. */
  adminUrl(node: number, database: string): string;
  /** Returns the index of the primary. */
  leader(): Promise<number>;
  /** Resolves when all three nodes run and the primary has a synchronous standby. */
  whole(): Promise<void>;
  kill(node: number, signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal only to the node's Patroni or only to its PostgreSQL. */
  signal(node: number, half: "patroni" | "postgres", signal: NodeJS.Signals): void;
  restart(node: number): Promise<void>;
}

const size = 3;

export async function startPatroni(grounds: Grounds): Promise<Patroni> {
  const directory = join(grounds.directory, "pg");
  mkdirSync(directory);
  const as = databaseIdentity();
  const own = (path: string) => as.uid !== undefined && chownSync(path, as.uid, as.gid!);
  own(directory);
  const etcd = await startEtcd(grounds, as);
  const nodes: PatroniNode[] = [];
  for (let i = 0; i < size; i++) {
    nodes.push({ name: `node${i}`, port: await freePort(), watchPort: await freePort() });
  }
  const daemons: (Daemon | undefined)[] = [];
  const dataOf = (node: number) => join(directory, `node${node}`);
  for (const [i, node] of nodes.entries()) {
    const file = `${dataOf(i)}.json`;
    // Patroni reads YAML, and JSON is valid YAML.
    writeFileSync(
      file,
      JSON.stringify(nodeSettings(node, { directory, etcd, programs: postgresPrograms()! })),
    );
    own(file);
  }
  function start(i: number): void {
    daemons[i] = grounds.start(nodes[i]!.name, "patroni", [`${dataOf(i)}.json`], as);
  }
  /** Returns the process ids of the postmaster and its children, which may outlive Patroni. */
  function postgresOf(i: number): number[] {
    const pid = postmasterOf(dataOf(i));
    return pid === undefined ? [] : [...descendantsOf(pid), pid];
  }
  const processesOf = (i: number) => [...postgresOf(i), ...(daemons[i]?.isAlive() ? [daemons[i].pid] : [])];
  grounds.alsoEnd(() => nodes.flatMap((_, i) => postgresOf(i)));

  async function kill(i: number, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    // Signal Patroni first, because it would restart PostgreSQL.
    const pids = processesOf(i).reverse();
    for (const pid of pids) killPid(pid, signal);
    if (signal !== "SIGKILL") return;
    await eventually(`${nodes[i]!.name} is gone`, () => {
      for (const pid of postgresOf(i)) killPid(pid, "SIGKILL");
      return !pids.some(isRunning) && postgresOf(i).length === 0;
    });
  }
  const membersSeenBy = async ({ watchPort }: PatroniNode) => {
    const answer = await fetch(`http://127.0.0.1:${watchPort}/cluster`, {
      signal: AbortSignal.timeout(1000),
    });
    return ((await answer.json()) as { members: readonly Member[] }).members;
  };
  async function leader(): Promise<number> {
    for (const [i, { watchPort }] of nodes.entries()) {
      const url = `http://127.0.0.1:${watchPort}/primary`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
      if (answer?.status === 200) return i;
    }
    throw new Error("No node is the leader");
  }
  const whole = () =>
    eventually(
      "three nodes with a leader and a synchronous standby",
      async () => {
        const members = await membersSeenBy(nodes[await leader()]!);
        const isIn = (role: string, ...states: string[]) =>
          members.filter((member) => member.role === role && states.includes(member.state)).length;
        const following = ["running", "streaming"];
        return (
          isIn("leader", "running") === 1 &&
          isIn("sync_standby", ...following) === 1 &&
          isIn("replica", ...following) === 1
        );
      },
      120_000,
    );

  start(0);
  await eventually("the first node leads", async () => (await leader()) === 0, 120_000);
  for (let i = 1; i < size; i++) start(i);
  await whole();
  const credentials = "postgres:postgres";
  return {
    nodes,
    url: `postgres://${credentials}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    adminUrl: (node, database) => `postgres://${credentials}@127.0.0.1:${nodes[node]!.port}/${database}`,
    leader,
    whole,
    kill,
    signal(i, half, signal) {
      if (half === "patroni") daemons[i]!.signal(signal);
      else for (const pid of postgresOf(i)) killPid(pid, signal);
    },
    async restart(i) {
      await kill(i);
      start(i);
      await whole();
    },
  };
}

interface Member {
  readonly role: string;
  readonly state: string;
}

async function startEtcd(grounds: Grounds, as: Identity): Promise<string> {
  const [client, peer] = [await freePort(), await freePort()];
  const url = (port: number) => `http://127.0.0.1:${port}`;
  const args = [
    "--enable-v2",
    ...["--name", "etcd0", "--data-dir", join(grounds.directory, "pg", "etcd")],
    ...["--listen-client-urls", url(client), "--advertise-client-urls", url(client)],
    ...["--listen-peer-urls", url(peer), "--initial-advertise-peer-urls", url(peer)],
    ...["--initial-cluster", `etcd0=${url(peer)}`],
  ];
  grounds.start("etcd", "etcd", args, as);
  await eventually("etcd is healthy", async () => (await fetch(`${url(client)}/health`)).ok);
  return `127.0.0.1:${client}`;
}

/** Returns the user for PostgreSQL, which refuses to run as root; Debian's package creates it. */
function databaseIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const id = (what: string) => Number(spawnSync("id", [what, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

function postmasterOf(data: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    // After a kill, the pid file remains, and its pid may meanwhile belong to another process.
    const isIts = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(data);
    return isIts && isRunning(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}
