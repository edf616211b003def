// `npm run test:cluster`: starts Ceph and PostgreSQL and runs the contracts (`--contracts`) and the
// faults (`--faults`); default: both. `--up` only starts the services and prints their URLs.
import { once } from "node:events";
import { parseArgs } from "node:util";
import { chooseSeed } from "../proof/proof.ts";
import { runContracts } from "./contract-run.ts";
import { addressesOf, type Environment, startEnvironment } from "./environment.ts";
import { runFaults } from "./fault-run.ts";
import { installCluster, postgresVersion } from "./install.ts";

const { values } = parseArgs({
  options: {
    contracts: { type: "boolean", default: false },
    faults: { type: "boolean", default: false },
    up: { type: "boolean", default: false },
    rounds: { type: "string", default: "20" },
    /** Runs only faults whose names contain one of these texts, separated by commas. */
    only: { type: "string" },
    seed: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

async function run(environment: Environment): Promise<void> {
  if (values.up) return stay(environment);
  const isAll = !values.contracts && !values.faults;
  if (values.contracts || isAll) await runContracts(environment);
  if (values.faults || isAll) {
    const seed = chooseSeed(values.seed);
    console.error(`Starting the faults, seed ${seed}`);
    const only = values.only?.split(",") ?? [];
    await runFaults(environment, { rounds: Number(values.rounds), only, seed, isJson: values.json });
  }
}

async function stay(environment: Environment): Promise<void> {
  const { records, blobs } = addressesOf(environment);
  console.log(`records ${records}/postgres\nblobs ${blobs.join("\n   or ")}\nPress Control-C to stop.`);
  process.stdin.resume();
  await once(process.stdin, "end");
}

function notTested(why: string): void {
  console.error(`\nNOT TESTED: PostgreSQL and Ceph as a cluster: ${why}\n`);
}

/** Prints a warning and returns undefined if the services cannot be installed or started. */
async function started(): Promise<Environment | undefined> {
  const missing = installCluster();
  if (missing.length > 0) {
    notTested(`not installed, and not installable from Debian here: ${missing.join(", ")}`);
    return undefined;
  }
  try {
    return await startEnvironment();
  } catch (error) {
    console.error(error);
    notTested("the services are installed but do not start, see the error above");
    return undefined;
  }
}

const begun = Date.now();
const sinceBegun = () => `${((Date.now() - begun) / 1000).toFixed(1)} s`;
const environment = await started();
if (environment !== undefined) {
  console.error(`The cluster is up after ${sinceBegun()}, with ${postgresVersion()}.`);
  try {
    await run(environment);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await environment.stop();
    console.error(`Finished after ${sinceBegun()}.`);
  }
}
