// Parses the command line of the benchmark and reports invalid options in one message.
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";

export interface Options {
  readonly quick: boolean;
  readonly json: boolean;
  /** Names of the sections to run. Default: all, except sections that must be named to run. */
  readonly only: readonly string[] | undefined;
  /** Parent of the temporary directory of the run. */
  readonly dir: string;
  /** Number of objects in the large store. */
  readonly objects: number;
  /** Duration of the overwrites in the churn section, in minutes. */
  readonly minutes: number;
  /** Paths of the peers' programs by name. Default: searched on the PATH. */
  readonly programs: Readonly<Record<string, string | undefined>>;
  /** Folder of another build, which the section builds measures beside this one. */
  readonly build: string | undefined;
  /** Object counts of the stores used by the growth section, in ascending order. */
  readonly sizes: readonly number[];
  /** Directory that keeps the stores of the growth section for the next run. */
  readonly stores: string | undefined;
  /** Directory for result files of each section. */
  readonly save: string | undefined;
}

export interface SectionName {
  readonly name: string;
  readonly description: string;
}

export class UsageError extends Error {}

/** Returns undefined for --help. Throws a UsageError for invalid options. */
export function parseOptions(args: readonly string[], sections: readonly SectionName[]): Options | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  return {
    quick: values.quick ?? false,
    json: values.json ?? false,
    only: onlyOf(values, sections),
    dir: directory(values.dir ?? tmpdir()),
    objects: objects("objects", values.objects ?? "1000000"),
    minutes: minutes(values.minutes ?? "10"),
    programs: { minio: values.minio, versitygw: values.versitygw, weed: values.weed, garage: values.garage },
    build: values.build === undefined ? undefined : directory(values.build),
    sizes: (values.sizes ?? (values.quick ? "10000,100000" : "10000,100000,1000000"))
      .split(",")
      .map((text) => objects("sizes", text))
      .sort((a, b) => a - b),
    stores: values.stores === undefined ? undefined : directory(values.stores),
    save: values.save === undefined ? undefined : directory(values.save),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        only: { type: "string" },
        cluster: { type: "boolean" },
        "cluster-model": { type: "boolean" },
        peers: { type: "boolean" },
        growth: { type: "boolean" },
        sizes: { type: "string" },
        stores: { type: "string" },
        save: { type: "string" },
        build: { type: "string" },
        minio: { type: "string" },
        versitygw: { type: "string" },
        weed: { type: "string" },
        garage: { type: "string" },
        dir: { type: "string" },
        objects: { type: "string" },
        minutes: { type: "string" },
      },
    }).values;
  } catch (error) {
    // The first sentence names the invalid option; the rest is advice on positional arguments.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split(/\.?\n|\. |\.$/, 1)[0]);
  }
}

function onlyOf(
  values: ReturnType<typeof parse>,
  sections: readonly SectionName[],
): readonly string[] | undefined {
  const names = values.only === undefined ? [] : sectionNames(values.only, sections);
  if (values.peers) names.push("peers");
  if (values.growth) names.push("growth");
  if (values.build !== undefined) names.push("builds");
  if (values.cluster) names.push("cluster");
  if (values["cluster-model"]) names.push("cluster-model");
  return names.length === 0 ? undefined : names;
}

function sectionNames(list: string, sections: readonly SectionName[]): string[] {
  const known = sections.map((section) => section.name);
  const names = list.split(",").map((name) => name.trim());
  for (const name of names) {
    if (!known.includes(name)) {
      throw new UsageError(`No section is named "${name}": the sections are ${known.join(", ")}`);
    }
  }
  return names;
}

function directory(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`"${path}" is not a directory`);
  }
  return path;
}

function objects(option: string, text: string): number {
  const count = Number(text.replaceAll("_", ""));
  if (!Number.isInteger(count) || count < 2000 || count % 10 !== 0) {
    throw new UsageError(`--${option} must be a multiple of ten, at least 2000, not "${text}"`);
  }
  return count;
}

function minutes(text: string): number {
  const count = Number(text);
  if (text.trim() === "" || !Number.isFinite(count) || count <= 0) {
    throw new UsageError(`--minutes must be a number above zero, not "${text}"`);
  }
  return count;
}

export function help(sections: readonly SectionName[], asked: readonly SectionName[]): string {
  const listed = (some: readonly SectionName[]) =>
    some.map((section) => `  ${section.name.padEnd(16)}${section.description}`).join("\n");
  return `Compares Store with the same work done by plain system calls on this machine.

npm run bench -- [options]

  --quick         run for about a minute: short rounds, fewer lanes, and without the large store
                  unless --only names a section that uses it
  --only a,b      run only these sections
  --peers         run only the section "peers": servers found on this machine or installed for the run
  --minio FILE, --versitygw FILE, --weed FILE, --garage FILE
                  paths of these peers (default: searched on the PATH)
  --build DIR     run only the section "builds": another checkout, after its npm ci, beside this one
  --growth        run only the section "growth": costs by objects, concurrency, parts and streams
  --sizes N,N     objects in the stores of growth (default: 10000,100000,1000000); ten million take 16 GB
  --stores DIR    keep the stores of growth in DIR and reuse them in the next run
  --save DIR      also save the results of each section in DIR: as JSON, as Markdown, and as a chart if it has one
  --cluster       run only the section "cluster": a cluster compared with its database and its S3 engine
  --cluster-model run only the section "cluster-model": how records grow, up to 10^12 objects
  --json          print one JSON document instead of tables
  --dir DIR       create the temporary directory in DIR (default: ${tmpdir()})
  --objects N     objects in the large store of list, memory and churn (default: 1000000)
  --minutes M     minutes of overwriting in churn (default: 10)
  --help          print this text

Sections:
${listed(sections)}

Sections that run only by name:
${listed(asked)}

Rounds of Store and of its limits alternate; a figure is the median of its rounds, ± half of their
range. The ratio is the median of the ratios of neighbouring rounds, Store to limit. 1.00 is the
limit of the machine: rates stay below it, ms and MiB stay above it.
`;
}
