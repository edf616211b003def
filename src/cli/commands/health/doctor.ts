// `store doctor`: checks the machine, the store and its servers, and names a cure for each problem.
import type { Command } from "../../framework/command.ts";
import { escapeControls, formatCount, type Output } from "../../framework/output.ts";
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
  const indent = " ".repeat(width + 11);
  // In a very narrow terminal, the terminal itself breaks the lines.
  const columns = Math.max(20, (output.stdout.columns ?? 80) - indent.length);
  for (const { check, state, what, cure } of findings) {
    if (!output.isTerminal) {
      await output.moreRows([], [[state, check, what, ...(cure === undefined ? [] : [cure])]]);
      continue;
    }
    const text = [...wrap(what, columns), ...(cure === undefined ? [] : wrap(output.typed(cure), columns))];
    const [first = "", ...others] = text;
    await output.line(`${colours[state](state.padEnd(7))}  ${check.padEnd(width)}  ${first}`);
    for (const line of others) await output.line(indent + line);
  }
  const found = [
    ...(problems === 0 ? [] : [formatCount(problems, "problem")]),
    ...(warnings === 0 ? [] : [formatCount(warnings, "warning")]),
  ];
  output.note(found.length === 0 ? "Everything is in order." : `Found ${found.join(" and ")}.`);
}

/** Breaks a text at spaces. Words that are longer than a line, such as paths, stay whole. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of escapeControls(text).split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
