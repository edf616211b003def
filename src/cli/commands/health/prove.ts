// `store prove`: tests on the user's own disk that kills, full disks and bit rot lose no acknowledged
// write.
import { randomInt } from "node:crypto";
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseDuration } from "../../../access/grants.ts";
import { neededBytes, type ProofName, proofNames, prove } from "../../../prove/prove.ts";
import type { ProofResult, ProveReport } from "../../../prove/report.ts";
import type { Command } from "../../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { escapeControls, formatBytes, type Output } from "../../framework/output.ts";
import { pathArgument } from "../../framework/path-argument.ts";

const defaultDuration = "4m";
const maxMilliseconds = 30 * 24 * 3600 * 1000;
const maxSeed = 2 ** 31 - 1;
const names = proofNames.map((name) => name.replace(" ", "-"));

export const proveCommand: Command = {
  name: "prove",
  summary: "Prove on your disk that kills, lack of space and bit rot lose no acknowledged write",
  details:
    "Creates stores in a new folder inside DIR, and removes the folder at the end. Four proofs share the time: kill,\n" +
    "full-disk, rot and consistency. The disk is never filled: lack of space is simulated by a limit on the size of\n" +
    "files. Power cuts are not tested. Ctrl-C ends the run after the work in progress, with a report.\n" +
    "Exit code: 0 if everything was tested and held, otherwise 1.",
  usage: ["<dir> [--for DURATION]"],
  options: {
    for: {
      value: "DURATION",
      summary: `time of all proofs together, such as 1h; default: ${defaultDuration}`,
    },
    only: { value: "NAMES", summary: `comma-separated proofs out of ${names.join(", ")}; default: all` },
    seed: { value: "NUMBER", summary: "repeat a run with the seed of its report; default: a random seed" },
  },
  examples: ["store prove /srv/data", "store prove /srv/data --for 1h --json"],
  async run(invocation) {
    const { output, options, parameters } = invocation;
    const milliseconds = parseOrUsageError(() => parseDuration(options.text("for") ?? defaultDuration));
    if (milliseconds > maxMilliseconds)
      throw usageError("--for takes at most 30d.", "Write a shorter duration, such as 1h.");
    const only = parseNames(options.text("only"));
    const seed = parseSeed(options.text("seed"));
    const directory = pathArgument(invocation, { label: "<dir>", text: parameters[0] ?? "" });
    refuseUnsuitable(directory);
    const report = await runInterruptible(async (signal) => {
      const say = (line: string) => output.note(escapeControls(line));
      output.note(`Testing ${directory} for ${options.text("for") ?? defaultDuration}, seed ${seed}.`);
      const report = await prove({ directory, milliseconds, seed, only, signal, say });
      await print(output, report);
      if (signal.aborted) throw signal.reason;
      return report;
    });
    return report.held ? 0 : 1;
  },
};

function parseNames(text: string | undefined): readonly ProofName[] | undefined {
  if (text === undefined) return undefined;
  const chosen = text.split(",").map((given) => {
    const found = proofNames[names.indexOf(given.trim())];
    if (found !== undefined) return found;
    throw usageError(`--only names an unknown proof, "${given}".`, `Use ${names.join(", ")}.`);
  });
  return [...new Set(chosen)];
}

function parseSeed(text: string | undefined): number {
  if (text === undefined) return randomInt(maxSeed);
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed <= maxSeed) return seed;
  throw usageError(`--seed needs a whole number from 0 to ${maxSeed}, not "${text}".`);
}

function refuseUnsuitable(directory: string): void {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new CommandError(`The folder ${directory} does not exist.`, {
      hint: "Create it on the disk that you want to test.",
    });
  if (!stat.isDirectory()) throw new CommandError(`${directory} is a file. Name a folder instead.`);
  const store = findStore(directory);
  if (store !== undefined)
    throw new CommandError(`${store} is the data directory of a store; proofs never run inside one.`, {
      hint: "Name another folder on the same disk.",
    });
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < neededBytes)
    throw new CommandError(
      `The proofs need ${formatBytes(neededBytes)} of free space, and ${directory} has ${formatBytes(bavail * bsize)}.`,
      { hint: "Free some space, or name a folder on another disk." },
    );
}

/** Returns the data directory that the folder is or is inside of. */
function findStore(directory: string): string | undefined {
  if (existsSync(join(directory, "registry.db"))) return directory;
  const parent = dirname(directory);
  return parent === directory ? undefined : findStore(parent);
}

async function print(output: Output, report: ProveReport): Promise<void> {
  if (output.isJson) return output.json(report);
  const { machine, seed, seconds, results } = report;
  const disk = [machine.fileSystem, machine.device, machine.mountOptions].filter(
    (text) => text !== undefined,
  );
  await output.fields([
    ["folder", machine.directory],
    ["file system", disk.length === 0 ? "not known" : disk.join(", ")],
    ["system", `${machine.system}, ${machine.processors} processors, ${formatBytes(machine.memoryBytes)}`],
    ["Node", machine.node],
    ["seed", String(seed)],
    ["time", `${seconds} s`],
  ]);
  for (const result of results) await printResult(output, result);
  await output.line(`\n${verdict(report)}`);
}

async function printResult({ line, style }: Output, result: ProofResult): Promise<void> {
  const { name, outcome, claim, counts, seconds, reason } = result;
  const colour = { held: style.green, failed: style.red, "not tested": style.yellow }[outcome];
  await line(`\n${style.bold(name)}: ${colour(outcome.toUpperCase())} in ${seconds} s`);
  await line(`  ${claim}`);
  const tried = Object.entries(counts).map(([what, count]) => `${what} ${count.toLocaleString("en")}`);
  if (tried.length > 0) await line(`  Counts: ${tried.join(", ")}.`);
  if (reason !== undefined) await line(`  Reason: ${escapeControls(reason)}`);
}

function verdict({ held, isInterrupted, results }: ProveReport): string {
  const failed = results.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);
  if (failed.length > 0)
    return `NOT everything held: ${failed.join(", ")}. Find the reason before you trust this disk with data.`;
  if (isInterrupted) return "Interrupted. What was tried until then held.";
  return held ? "Everything held." : "What was tested held, but not everything was tested.";
}
