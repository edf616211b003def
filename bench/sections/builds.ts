// Section "builds": this build and another one, named by --build, under the same load in alternating
// rounds. It shows what a change costs. Both are started several times: two processes of one build
// differ by up to a fifth, because they compile and lay out the same code differently.
import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { requestsPerSecond } from "../http-load.ts";
import type { Limit } from "../limits.ts";
import { figure } from "../measure.ts";
import { largeRows, smallRows } from "../peers/s3-rows.ts";
import { type S3Server, s3ServerAt } from "../peers/s3-server.ts";
import { type ScriptServer, startStoreScript } from "../peers/scripts.ts";
import { type Context, compare, KiB, makeRow, type Row, type Section } from "../section.ts";
import { end, ownProgram } from "../servers.ts";

/** No change may slow another path by more than this. */
const bar = 0.97;
const listLanes = 4;
const starts = 5;
const roundsOfStart = 3;
const otherName = "the other build";

export const builds: Section = {
  name: "builds",
  description: "this build compared with another one (--build DIR)",
  run,
};

interface Build {
  readonly script: ScriptServer;
  readonly s3: S3Server;
}

async function run(context: Context): Promise<void> {
  if (context.build === undefined) {
    context.note("builds is skipped: name the folder of another build with --build DIR.");
    return;
  }
  const programs = [ownProgram, programOf(context.build)] as const;
  const found: Row[][] = [];
  for (let start = 0; start < (context.quick ? 2 : starts); start++) {
    const rows: Row[] = [];
    const directory = join(context.directory, `start-${start}`);
    mkdirSync(directory);
    const pace = { ...context.pace, rounds: roundsOfStart };
    await measureOnce(
      { ...context, directory, pace, row: (row) => rows.push(row), note: () => {} },
      programs,
    );
    found.push(rows);
  }
  for (const index of found[0]!.keys()) context.row(mergeRows(found.map((rows) => rows[index]!)));
}

/** Puts the rounds of all starts together. Only the other build remains beside this one. */
function mergeRows(rows: readonly Row[]): Row {
  const { what, size, lanes, unit } = rows[0]!;
  const beside = rows.map(({ limits }) => limits.find(({ name }) => name === otherName)!.figure);
  const figures = [rows.map(({ store }) => store), beside].map((some) =>
    figure(some.flatMap(({ rounds }) => rounds)),
  );
  return makeRow({ what, size, lanes, unit }, figures, [{ name: otherName, bar }]);
}

async function measureOnce(context: Context, [ownCommand, otherCommand]: readonly [string, string]) {
  const started: ChildProcess[] = [];
  try {
    const own = await startBuild("this build", ownCommand, context, started);
    const other = await startBuild(otherName, otherCommand, context, started);
    await scriptRows(context, own.script, other.script);
    await smallRows(context, own.s3, [{ server: other.s3 }]);
    await listRow(context, own.s3, other.s3);
    await largeRows(context, own.s3, [other.s3], started);
  } finally {
    await Promise.all(started.map(end));
  }
}

function programOf(folder: string): string {
  const program = join(folder, "dist/cli/main.js");
  if (existsSync(program)) return program;
  throw new Error(`Cannot measure: ${program} is missing; run npm ci in ${folder}`);
}

async function startBuild(
  name: string,
  program: string,
  context: Context,
  started: ChildProcess[],
): Promise<Build> {
  context.progress(`starting ${name}`);
  const directory = join(context.directory, name.replaceAll(" ", "-"));
  const script = await startStoreScript(directory, started, { program });
  const create = [program, "key", "create", "--data", join(directory, "data"), "--json"];
  const key = JSON.parse(execFileSync(process.execPath, create, { encoding: "utf8" })) as {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  return { script, s3: s3ServerAt({ ...key, name, endpoint: script.s3Url, isSynced: true }) };
}

async function scriptRows(context: Context, own: ScriptServer, other: ScriptServer): Promise<void> {
  const { seconds } = context.pace;
  for (const [operation, lanes] of [
    ["head", 1],
    ["get", 1],
    ["put", 32],
  ] as const) {
    await compare(context, {
      ...{ what: `script ${operation}`, size: KiB, lanes, unit: "op/s" },
      round: () => own.rate(operation, lanes, seconds),
      limits: [{ name: otherName, round: () => other.rate(operation, lanes, seconds), bar }],
    });
  }
}

async function listRow(context: Context, own: S3Server, other: S3Server): Promise<void> {
  const { seconds } = context.pace;
  const lists = (server: S3Server) => () =>
    requestsPerSecond({
      ...{ port: server.port, connections: listLanes, seconds },
      paths: Array.from({ length: listLanes }, () => [server.path("GET", undefined, [["list-type", "2"]])]),
    });
  const limits: Limit[] = [{ name: other.name, round: lists(other), bar }];
  await compare(context, {
    ...{ what: "S3 list of 1,000", lanes: listLanes, unit: "op/s" },
    ...{ round: lists(own), limits },
  });
}
