// Compares a run on the classes of scripts with a run on Node's own, test by test.
import type { Difference } from "./differences.ts";
import type { FileResults } from "./run-file.ts";

export type Verdict =
  | "passes on both"
  | "passes only here"
  | "fails on both"
  | "needs a handler"
  | "deliberate"
  | "older Node"
  | "unexpected";

export interface ComparedTest {
  readonly file: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** Why the test fails on the classes of scripts. */
  readonly message: string;
  /** Why a listed difference is wanted or accepted. */
  readonly reason: string | undefined;
}

export function compareFile(
  file: string,
  ours: FileResults,
  theirs: FileResults,
  differences: readonly Difference[],
): ComparedTest[] {
  const [here, there] = [byName(ours), byName(theirs)];
  const needsHandler = ours.requestedHandlers.length + theirs.requestedHandlers.length > 0;
  return [...new Set([...there.keys(), ...here.keys()])].map((name) => {
    const [mine, other] = [here.get(name), there.get(name)];
    // A name in parentheses is an error of the whole file, which may be missing in the other run.
    const isFault = name.startsWith("(");
    const passesHere = isFault ? mine === undefined : mine?.outcome === "passed";
    const passesThere = isFault ? other === undefined : other?.outcome === "passed";
    const difference = differences.find((one) => covers(one, file, name));
    const verdict = judge({ passesHere, passesThere, needsHandler, difference });
    const message = passesHere ? "" : (mine?.message ?? "The test was not reached.");
    return { file, name, verdict, message, reason: difference?.reason };
  });
}

function byName({ results }: FileResults): Map<string, FileResults["results"][number]> {
  return new Map(results.map((result) => [result.name, result]));
}

function covers({ file, test }: Difference, path: string, name: string): boolean {
  return path.startsWith(file) && (typeof test === "string" ? test === name : test.test(name));
}

interface Outcomes {
  readonly passesHere: boolean;
  readonly passesThere: boolean;
  readonly needsHandler: boolean;
  readonly difference: Difference | undefined;
}

function judge({ passesHere, passesThere, needsHandler, difference }: Outcomes): Verdict {
  if (passesHere) return passesThere ? "passes on both" : "passes only here";
  if (passesThere && difference === undefined) return "unexpected";
  if (passesThere) return difference?.cause === "deliberate" ? "deliberate" : "older Node";
  return needsHandler ? "needs a handler" : "fails on both";
}
