// The report of a run: totals by folder, then the failed tests with their reasons.
import type { ComparedTest, Verdict } from "./compare.ts";
import { folders } from "./test-files.ts";

export interface Totals {
  readonly folder: string;
  readonly script: { readonly passed: number; readonly failed: number };
  readonly node: { readonly passed: number; readonly failed: number };
  /** Tests that fail on both sides in a file that requested a Python handler. */
  readonly notRunnable: number;
}

const failHere: readonly Verdict[] = ["deliberate", "older Node", "unexpected"];

export function totalsByFolder(tests: readonly ComparedTest[]): Totals[] {
  const rows = folders.map((folder) => ({
    folder,
    own: tests.filter(({ file }) => file.startsWith(folder)),
  }));
  return [...rows, { folder: "all", own: tests }]
    .filter(({ own }) => own.length > 0)
    .map(({ folder, own }) => {
      const count = (...verdicts: Verdict[]) =>
        own.filter(({ verdict }) => verdicts.includes(verdict)).length;
      return {
        folder,
        script: {
          passed: count("passes on both", "passes only here"),
          failed: count("fails on both", ...failHere),
        },
        node: {
          passed: count("passes on both", ...failHere),
          failed: count("fails on both", "passes only here"),
        },
        notRunnable: count("needs a handler"),
      };
    });
}

export function formatReport(
  tests: readonly ComparedTest[],
  names: { script: string; node: string },
): string {
  const of = (verdict: Verdict) => tests.filter((test) => test.verdict === verdict);
  const unexpected = of("unexpected").map((test) => `  ${test.file}: ${test.name}\n      ${test.message}`);
  const deliberate = of("deliberate").map((test) => `  ${test.file}: ${test.name}\n      ${test.reason}`);
  return [
    formatTotals(totalsByFolder(tests), names),
    section("Deliberate differences", deliberate),
    section(
      "Faults of this Node version in classes that scripts take from it, by file",
      byReason(of("older Node")),
    ),
    section("Fail on both, by file", countsByFile(of("fails on both"))),
    section(
      "Not runnable without the checkout's Python handlers, by file",
      countsByFile(of("needs a handler")),
    ),
    section("Unexpected: fail on the classes of scripts only", unexpected),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function formatTotals(totals: readonly Totals[], names: { script: string; node: string }): string {
  const head = ["folder", names.script, "", names.node, "", "not runnable"];
  const second = ["", "passed", "failed", "passed", "failed", ""];
  const rows = totals.map(({ folder, script, node, notRunnable }) =>
    [folder, script.passed, script.failed, node.passed, node.failed, notRunnable].map(String),
  );
  return [head, second, ...rows]
    .map(([first, ...cells]) => first!.padEnd(28) + cells.map((cell) => cell.padStart(16)).join(""))
    .join("\n");
}

function countsByFile(tests: readonly ComparedTest[]): string[] {
  const counts = new Map<string, number>();
  for (const { file } of tests) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts].map(([file, count]) => `  ${String(count).padStart(5)}  ${file}`);
}

function byReason(tests: readonly ComparedTest[]): string[] {
  return countsByFile(tests).map((line) => {
    const { reason } = tests.find(({ file }) => line.endsWith(`  ${file}`))!;
    return `${line}: ${reason}`;
  });
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [`${title}:`, ...lines].join("\n");
}
