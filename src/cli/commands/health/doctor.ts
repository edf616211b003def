// `store doctor`: checks the machine, the store and its servers, and names a cure for each problem.
import type { Command } from "../../framework/command.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { refuseUrl } from "../../framework/path-argument.ts";
import { examine } from "../../health/examine.ts";
import type { Finding, FindingState } from "../../health/finding.ts";
import { storeLocation } from "../../store/store-location.ts";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "Check the machine, the store and its servers, and name a cure for each problem",
  details:
    "Checks Node and versions, limits, the schema, disk space, inodes, the file system and its syncs, permissions,\n" +
    "ports, clocks, the age of the latest backup, certificates, and the tools of sandboxes. Changes nothing; servers\n" +
    "can keep running. Exit code: 0 without problems, 1 with a problem. With --strict a warning counts as a problem.",
  usage: ["[--strict] [--tls-cert FILE]"],
  options: {
    strict: { summary: "exit with 1 also after a warning" },
    "tls-cert": { value: "FILE", summary: "also check this certificate" },
  },
  examples: ["store doctor", "store doctor --data /var/lib/store --json"],
  async run(invocation) {
    const { output, options } = invocation;
    const certificate = options.text("tls-cert");
    if (certificate !== undefined) {
      refuseUrl({ label: "--tls-cert", text: certificate, expected: "a file" });
    }
    const findings = await examine(invocation, await storeLocation(invocation));
    const count = (state: FindingState) => findings.filter((one) => one.state === state).length;
    const [problems, warnings] = [count("problem"), count("warning")];
    if (output.isJson) await output.json({ problems, warnings, findings });
    else await print(output, findings, { problems, warnings });
    return problems > 0 || (options.flag("strict") && warnings > 0) ? 1 : 0;
  },
};

async function print(
  output: Output,
  findings: readonly Finding[],
  { problems, warnings }: { readonly problems: number; readonly warnings: number },
): Promise<void> {
  const { style } = output;
  const colours = { ok: style.green, warning: style.yellow, problem: style.red } as const;
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, state, what, cure } of findings) {
    if (!output.isTerminal) {
      await output.moreRows([], [[state, check, what, ...(cure === undefined ? [] : [cure])]]);
      continue;
    }
    await output.line(`${colours[state](state.padEnd(7))}  ${check.padEnd(width)}  ${what}`);
    if (cure !== undefined) await output.line(`${" ".repeat(width + 11)}${output.typed(cure)}`);
  }
  const found = [
    ...(problems === 0 ? [] : [formatCount(problems, "problem")]),
    ...(warnings === 0 ? [] : [formatCount(warnings, "warning")]),
  ];
  output.note(found.length === 0 ? "Everything is in order." : `Found ${found.join(" and ")}.`);
}
