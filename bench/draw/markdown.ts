// Renders a section as a Markdown page: a table with one line per limit, and the notes.
import type { Judged, Row, RowLimit } from "../section.ts";
import { number, spread } from "../table.ts";
import { headOf } from "./bars.ts";

export interface Figures {
  readonly name: string;
  readonly description: string;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

/** Renders a section. The second argument is the footer: the command, the machine and the date. */
export function markdownOf(figures: Figures, [command, machine]: readonly string[]): string {
  const { name, description, rows, notes } = figures;
  const isAlone = rows.every(({ limits }) => limits.length === 0);
  const head = isAlone ? ["what", "store", "bar"] : ["what", "store", "beside", "figure", "ratio", "bar"];
  const lines = rows.flatMap((row) => (isAlone ? [[...ownCells(row), barCell(row.bar)]] : linesOf(row)));
  return [
    `# Figures: ${name}`,
    `${description[0]!.toUpperCase()}${description.slice(1)}.`,
    `    ${command}`,
    `${machine}. Rounds in turn; medians, ± half of the range of the rounds.`,
    [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n"),
    notes.map((note) => `- ${note}`).join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function linesOf(row: Row): string[][] {
  const { limits } = row;
  if (limits.length === 0) return [[...ownCells(row), "", "", "", barCell(row.bar)]];
  return limits.map((limit, index) => [
    ...(index === 0 ? ownCells(row) : ["", ""]),
    ...besideCells(limit, row),
    barCell(limit.bar ?? (index === 0 ? row.bar : undefined)),
  ]);
}

function ownCells(row: Row): string[] {
  return [headOf(row), `${number(row.store.median)} ${row.unit} ${plusMinus(spread(row.store))}`.trimEnd()];
}

function besideCells({ name, figure, ratio }: RowLimit, { unit }: Row): string[] {
  return [name, `${number(figure.median)} ${unit} ${plusMinus(spread(figure))}`.trimEnd(), number(ratio)];
}

function plusMinus(share: string): string {
  return share === "" ? "" : `± ${share}`;
}

function barCell(bar: Judged | undefined): string {
  if (bar === undefined) return "";
  return bar.ok ? `${bar.text}: reached` : `${bar.text}: **not reached**`;
}
