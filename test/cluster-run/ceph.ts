// A small Ceph on loopback: a monitor, three OSDs with their data in files, and two radosgw as S3
// gateways. They are plain processes, each of which can be killed and restarted.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { isClean, type Pool } from "./ceph-health.ts";
import { cephSettings } from "./ceph-settings.ts";
import { type Daemon, eventually, freePort, type Grounds } from "./sandbox.ts";

export type CephPart = `osd.${number}` | `rgw.${number}`;

export interface Ceph {
  /** URL of each radosgw: http://127.0.0.1:port. */
  readonly endpoints: readonly string[];
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Returns the URL of a blob backend in this bucket, through this radosgw. */
  url(bucket: string, through: number): string;
  client(through?: number): S3Client;
  createBucket(name: string): Promise<void>;
  /** Sends a signal; default: SIGKILL, as when the machine dies. */
  kill(which: CephPart, signal?: NodeJS.Signals): Promise<void>;
  /** Starts the process again; resolves when it serves. */
  restart(which: CephPart): Promise<void>;
  /** Resolves when all OSDs have all data again. */
  healed(): Promise<void>;
}

/** Number of processes. Each OSD has a copy of all data. */
export interface CephSize {
  readonly osds: number;
  readonly gateways: number;
}

const usualSize: CephSize = { osds: 3, gateways: 2 };
const accessKeyId = "STOREKEY";
const secretAccessKey = "storesecret";

export async function startCeph(grounds: Grounds, size = usualSize): Promise<Ceph> {
  const { osds, gateways } = size;
  const directory = join(grounds.directory, "ceph");
  for (const name of ["mon", "run"]) mkdirSync(join(directory, name), { recursive: true });
  const settings = join(directory, "ceph.conf");
  const fsid = randomUUID();
  const monitor = `v2:127.0.0.1:${await freePort()}`;
  const ports = await Promise.all(Array.from({ length: gateways }, freePort));
  writeFileSync(settings, cephSettings({ directory, fsid, monitor, copies: osds }));
  const run = (program: string, ...args: string[]) => call(program, ["--conf", settings, ...args]);
  const ceph = (...args: string[]) => run("ceph", "--connect-timeout", "30", ...args);

  const map = join(directory, "monmap");
  await call("monmaptool", ["--create", "--fsid", fsid, "--addv", "a", `[${monitor}]`, map]);
  await run("ceph-mon", "--id", "a", "--mkfs", "--monmap", map);
  grounds.start("mon.a", "ceph-mon", ["--conf", settings, "--id", "a", "-f"]);

  const daemons = new Map<CephPart, Daemon>();
  function startOsd(number: number): void {
    const args = ["--conf", settings, "--id", String(number), "-f"];
    daemons.set(`osd.${number}`, grounds.start(`osd.${number}`, "ceph-osd", args));
  }
  function startGateway(number: number): void {
    const frontend = `beast endpoint=127.0.0.1:${ports[number]} tcp_nodelay=1`;
    const args = ["--conf", settings, "--name", `client.rgw.${number}`, "-f", `--rgw_frontends=${frontend}`];
    daemons.set(`rgw.${number}`, grounds.start(`rgw.${number}`, "radosgw", args));
  }
  const upOsds = async () => (JSON.parse(await ceph("osd", "stat", "-f", "json")) as OsdStat).num_up_osds;
  const pools = async () => (JSON.parse(await ceph("osd", "dump", "-f", "json")) as { pools: Pool[] }).pools;
  const endpoints = ports.map((port) => `http://127.0.0.1:${port}`);
  const answers = (number: number) => async () => (await fetch(endpoints[number]!)).status === 200;

  for (let i = 0; i < osds; i++) {
    const id = randomUUID();
    mkdirSync(join(directory, `osd${i}`));
    await ceph("osd", "new", id, String(i));
    await run("ceph-osd", "--id", String(i), "--mkfs", "--osd-uuid", id);
    startOsd(i);
  }
  await eventually("all OSDs are up", async () => (await upOsds()) === osds);
  const user = ["--uid=store", "--display-name=store", `--access-key=${accessKeyId}`];
  await run("radosgw-admin", "user", "create", ...user, `--secret-key=${secretAccessKey}`);
  for (let i = 0; i < gateways; i++) startGateway(i);
  for (let i = 0; i < gateways; i++) await eventually(`rgw.${i} answers`, answers(i));

  const client = (through = 0) =>
    new S3Client({
      endpoint: endpoints[through]!,
      region: "us-east-1",
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      credentials: { accessKeyId, secretAccessKey },
    });
  return {
    endpoints,
    accessKeyId,
    secretAccessKey,
    url(bucket, through) {
      return `s3://${accessKeyId}:${secretAccessKey}@127.0.0.1:${ports[through]}/${bucket}`;
    },
    client,
    async createBucket(name) {
      const s3 = client();
      await s3.send(new CreateBucketCommand({ Bucket: name }));
      s3.destroy();
    },
    async kill(which, signal = "SIGKILL") {
      const daemon = daemons.get(which)!;
      if (signal === "SIGKILL") await daemon.kill();
      else daemon.signal(signal);
    },
    async restart(which) {
      const number = Number(which.slice("osd.".length));
      await daemons.get(which)!.kill();
      if (which.startsWith("rgw")) {
        startGateway(number);
        return eventually(`${which} answers`, answers(number));
      }
      startOsd(number);
      await eventually(`${which} is up`, async () => (await upOsds()) === osds);
    },
    // The timeout is long: copying the data written during a failure is slow on a busy machine.
    healed: () =>
      eventually("all placement groups are clean", async () => isClean(directory, await pools()), 300_000),
  };
}

interface OsdStat {
  readonly num_up_osds: number;
}

/** Runs a program, which must succeed; returns its output. */
async function call(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let complaints = "";
  child.stdout.on("data", (piece: Buffer) => (said += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (complaints += piece.toString()));
  const [code] = await once(child, "close");
  if (code === 0) return said;
  throw new Error(`${program} ${args.join(" ")} ended with ${String(code)}: ${complaints.slice(-2000)}`);
}
