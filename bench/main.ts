// The benchmark: runs the sections one after another and prints their results.
import { mkdirSync, rmSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { createChildren } from "./children.ts";
import { prepareLargeStore } from "./large-store.ts";
import { diskFacts } from "./limits.ts";
import type { Pace } from "./measure.ts";
import { help, type Options, parseOptions, UsageError } from "./options.ts";
import { type Draw, save } from "./saved.ts";
import { type Context, type Judged, MiB, type Row, type Section } from "./section.ts";
import { access } from "./sections/access.ts";
import { bodies } from "./sections/bodies.ts";
import { builds } from "./sections/builds.ts";
import { churn } from "./sections/churn.ts";
import { cluster } from "./sections/cluster.ts";
import { clusterModel } from "./sections/cluster-model.ts";
import { clusterReads } from "./sections/cluster-reads.ts";
import { connections } from "./sections/connections.ts";
import { contention } from "./sections/contention.ts";
import { encryption } from "./sections/encryption.ts";
import { growth } from "./sections/growth.ts";
import { kv } from "./sections/kv.ts";
import { latency } from "./sections/latency.ts";
import { list } from "./sections/list.ts";
import { many } from "./sections/many.ts";
import { memory } from "./sections/memory.ts";
import { metrics } from "./sections/metrics.ts";
import { multipart } from "./sections/multipart.ts";
import { neighbours } from "./sections/neighbours.ts";
import { peers } from "./sections/peers.ts";
import { quotas } from "./sections/quotas.ts";
import { s3 } from "./sections/s3.ts";
import { sandbox } from "./sections/sandbox.ts";
import { scripts } from "./sections/scripts.ts";
import { sizes } from "./sections/sizes.ts";
import { small } from "./sections/small.ts";
import { space } from "./sections/space.ts";
import { start } from "./sections/start.ts";
import { versions } from "./sections/versions.ts";
import { writers } from "./sections/writers.ts";
import { number, renderTable } from "./table.ts";
import { createWorkspace } from "./workspace.ts";

/** Default sections in the order they run. churn is last: it deletes most of the large store. */
const sections: readonly Section[] = [
  small,
  writers,
  sizes,
  multipart,
  scripts,
  sandbox,
  neighbours,
  s3,
  contention,
  list,
  memory,
  churn,
];

/** Sections that must be named to run: most of them start other servers or a database. */
const asked: readonly Section[] = [
  start,
  metrics,
  encryption,
  connections,
  bodies,
  latency,
  kv,
  quotas,
  access,
  versions,
  peers,
  builds,
  growth,
  many,
  space,
  cluster,
  clusterModel,
  clusterReads,
];

const full: Pace = { rounds: 5, seconds: 1, lanes: [1, 16, 128], bytes: 1024 * MiB };
const quick: Pace = { rounds: 3, seconds: 0.1, lanes: [1, 16], bytes: 128 * MiB };

interface Report extends Pick<Section, "name" | "description"> {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

async function main(options: Options): Promise<void> {
  const children = createChildren();
  const workspace = createWorkspace(options.dir, () => children.killAll());
  const print = (text: string) => {
    if (!options.json) process.stdout.write(`${text}\n`);
  };
  const machine = measureMachine(workspace, options);
  print(`${machineLines(machine)}\n`);
  let preparation: ReturnType<typeof prepareLargeStore> | undefined;
  const largeStore = () => {
    preparation ??= prepareLargeStore(join(workspace, "large"), options.objects, progress);
    return preparation;
  };
  const reports: Report[] = [];
  for (const section of chosen(options)) {
    const directory = join(workspace, section.name);
    mkdirSync(directory);
    const rows: Row[] = [];
    const notes: string[] = [];
    let picture: Draw | undefined;
    const context: Context = {
      directory,
      pace: options.quick ? quick : full,
      quick: options.quick,
      minutes: options.minutes,
      programs: options.programs,
      build: options.build,
      sizes: options.sizes,
      stores: options.stores,
      children,
      largeStore: options.quick && options.only === undefined ? undefined : largeStore,
      row: (row) => rows.push(row),
      note: (text) => notes.push(text),
      picture: (draw) => {
        picture = draw;
      },
      progress: (text) => progress(`${section.name}: ${text}`),
    };
    await section.run(context);
    rmSync(directory, { recursive: true });
    progress("");
    const { name, description } = section;
    const report = { name, description, rows, notes };
    reports.push(report);
    if (options.save !== undefined) save(options.save, report, { machine, draw: picture });
    print(
      [`${name}: ${description}`, "", ...(rows.length > 0 ? [renderTable(rows)] : []), ...notes, ""].join(
        "\n",
      ),
    );
  }
  if (options.json)
    process.stdout.write(`${JSON.stringify({ machine, options, sections: reports }, null, 2)}\n`);
  else if (barsOf(reports).length > 0) print(summary(reports));
}

function chosen({ only }: Options): readonly Section[] {
  return only === undefined ? sections : [...sections, ...asked].filter(({ name }) => only.includes(name));
}

function measureMachine(directory: string, options: Options) {
  progress("the machine itself");
  const facts = diskFacts(directory, options.quick ? 0.1 : 1);
  progress("");
  const processors = cpus();
  return {
    node: process.version,
    system: `${process.platform} ${release()}`,
    processors: `${processors.length} × ${processors[0]?.model.trim() ?? "unknown"}`,
    memoryMiB: Math.round(totalmem() / MiB),
    directory: options.dir,
    ...facts,
  };
}

function machineLines(machine: ReturnType<typeof measureMachine>): string {
  return [
    `Node ${machine.node}, ${machine.system}, ${machine.processors}, ${number(machine.memoryMiB)} MiB of memory`,
    `In ${machine.directory}, 1 KiB at a time: ${number(machine.fsyncPerSecond)} fsync/s, ` +
      `${number(machine.fdatasyncPerSecond)} fdatasync/s appending, ` +
      `${number(machine.fdatasyncInPlacePerSecond)} in place; md5 ${number(machine.md5MiBPerSecond)} MiB/s`,
  ].join("\n");
}

function barsOf(reports: readonly Report[]): Judged[] {
  const bars = reports.flatMap(({ rows }) =>
    rows.flatMap((row) => [row, ...row.limits].map(({ bar }) => bar)),
  );
  return bars.filter((bar) => bar !== undefined);
}

function summary(reports: readonly Report[]): string {
  const bars = barsOf(reports);
  return `${bars.filter(({ ok }) => ok).length} of ${bars.length} bars reached.`;
}

let doing = "";
// Node exits silently with code 13 if the main promise can never settle: report the last step.
process.once("exit", (code) => {
  if (code === 13) process.stderr.write(`bench: an operation never ended: ${doing}\n`);
});

/** On a terminal, shows the current step in a line that is overwritten. */
function progress(text: string): void {
  doing = text;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

try {
  const options = parseOptions(process.argv.slice(2), [...sections, ...asked]);
  if (options === undefined) process.stdout.write(help(sections, asked));
  else await main(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`bench: ${error.message}. Try --help.\n`);
  process.exitCode = 2;
}
