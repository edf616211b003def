// `npm run test:soak`: runs the proofs for a time (`--minutes`, divided among the proofs) or until
// each reaches its bar (`--bars`). `--only a,b` selects proofs, `--seed` repeats a run.
import { parseArgs } from "node:util";
import { proofs } from "./all.ts";
import { type Budget, byAmount, byTime, chooseSeed, NotTested, type Proof, seededError } from "./proof.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    bars: { type: "boolean", default: false },
    only: { type: "string" },
    seed: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

function chosen(): readonly Proof[] {
  if (values.only === undefined) return proofs;
  return values.only.split(",").map((name) => {
    const proof = proofs.find((proof) => proof.name === name);
    if (proof !== undefined) return proof;
    throw new Error(`There is no proof "${name}". Use one of: ${proofs.map(({ name }) => name).join(", ")}.`);
  });
}

function minutes(): number {
  const number = Number(values.minutes ?? "10");
  if (number > 0) return number;
  throw new Error(`--minutes must be a number above 0, not "${values.minutes}".`);
}

function budgetFor(proof: Proof, share: number, seed: number): Budget {
  const say = (line: string) => console.error(`${proof.name}: ${line}`);
  return values.bars ? byAmount(proof.bar, seed, say) : byTime(share, seed, say);
}

/** Runs a proof; returns false if it failed. NotTested does not count as a failure. */
async function prove(proof: Proof, share: number): Promise<boolean> {
  const seed = chooseSeed(values.seed);
  console.error(`${proof.name}: started, seed ${seed}`);
  const begun = Date.now();
  try {
    const figures = await proof.run(budgetFor(proof, share, seed));
    const seconds = Math.round((Date.now() - begun) / 1000);
    if (values.json) console.log(JSON.stringify({ proof: proof.name, seed, seconds, figures }));
    else console.log(`${proof.name}: held in ${seconds} s. ${inWords(figures)}`);
    return true;
  } catch (error) {
    if (error instanceof NotTested) {
      console.log(`${proof.name}: NOT TESTED. ${error.message}`);
      return true;
    }
    console.error(seededError(proof, seed, error));
    return false;
  }
}

function inWords(figures: Readonly<Record<string, number>>): string {
  return Object.entries(figures)
    .map(([what, count]) => `${what} ${count.toLocaleString("en")}`)
    .join(", ");
}

const all = chosen();
let held = true;
for (const proof of all) held = (await prove(proof, (minutes() * 60_000) / all.length)) && held;
process.exitCode = held ? 0 : 1;
