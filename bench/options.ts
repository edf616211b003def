// The command line of the benchmark: what may be asked for, and one clear message for what may not.
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";

export interface Options {
  readonly quick: boolean;
  readonly json: boolean;
  /** Sections by name; undefined for all. */
  readonly only: readonly string[] | undefined;
  /** A fresh directory is made in this one, and removed. */
  readonly dir: string;
  /** How many objects the large store holds. */
  readonly objects: number;
  /** How long the large store is overwritten. */
  readonly minutes: number;
  /** Where programs of peers are, by their names, as far as it was said. */
  readonly programs: Readonly<Record<string, string | undefined>>;
  /** How many objects the stores have that growth is measured on, from few to many. */
  readonly sizes: readonly number[];
  /** Where these stores are kept, and taken again. */
  readonly stores: string | undefined;
  /** Where the figures of each section go as files. */
  readonly save: string | undefined;
}

export interface SectionName {
  readonly name: string;
  readonly description: string;
}

export class UsageError extends Error {}

/** Undefined when the help was asked for. */
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
    // The first sentence names the option; the rest is advice for programs that take positionals.
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
    throw new UsageError(`Cannot work in "${path}": it is not a directory`);
  }
  return path;
}

function objects(option: string, text: string): number {
  const count = Number(text.replaceAll("_", ""));
  if (!Number.isInteger(count) || count < 2000 || count % 10 !== 0) {
    throw new UsageError(`--${option} takes a multiple of ten from 2000: "${text}" is not one`);
  }
  return count;
}

function minutes(text: string): number {
  const count = Number(text);
  if (text.trim() === "" || !Number.isFinite(count) || count <= 0) {
    throw new UsageError(`--minutes takes a number above zero: "${text}" is not one`);
  }
  return count;
}

export function help(sections: readonly SectionName[], asked: readonly SectionName[]): string {
  const listed = (some: readonly SectionName[]) =>
    some.map((section) => `  ${section.name.padEnd(16)}${section.description}`).join("\n");
  return `Measures Store beside the same work done by hand on this machine.

npm run bench -- [options]

  --quick         a minute in all: short rounds, fewer lanes, and nothing that needs the large store
                  unless --only names it
  --only a,b      only these sections
  --peers         only the section of this name: everything one could pick instead, found on this machine or installed
  --minio FILE, --versitygw FILE, --weed FILE, --garage FILE
                  where these peers are when they are not on the PATH
  --growth        only the section of this name: how costs grow with objects, concurrency, parts and streams
  --sizes N,N     objects in the stores of growth (default: 10000,100000,1000000); ten million take 16 GB
  --stores DIR    where these stores are kept, and taken again by the next run
  --save DIR      the figures of each section into DIR, too: as JSON, as a page, and as a picture where it has one
  --cluster       only the section of this name: a cluster beside its database and its S3 engine alone
  --cluster-model only the section of this name: how records grow, and what that means for very many
  --json          one JSON document instead of tables
  --dir DIR       where the temporary directory is made (default: ${tmpdir()})
  --objects N     objects in the large store of list, memory and churn (default: 1000000)
  --minutes M     minutes of overwriting in churn (default: 10)
  --help          this text

Sections:
${listed(sections)}

Sections that run only when they are named:
${listed(asked)}

Rounds of the product and of the work by hand alternate; a figure is the median of its rounds, ± half of
their range. The ratio is the median of the ratios of neighbouring rounds, store to work by hand: 1.00 is
the limit of the machine, from below for rates and from above for ms and MiB.
`;
}
