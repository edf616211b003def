// Renders the rows of a section as a text table: a line per row, and one per additional limit.
import type { Figure } from "./measure.ts";
import { type Judged, type Row, type RowLimit, sizeName } from "./section.ts";

const columns = [
  { title: "what", align: "left" },
  { title: "size", align: "right" },
  { title: "lanes", align: "right" },
  { title: "store", align: "right" },
  { title: "±", align: "right" },
  { title: "unit", align: "left" },
  { title: "beside", align: "left" },
  { title: "figure", align: "right" },
  { title: "±", align: "right" },
  { title: "ratio", align: "right" },
  { title: "bar", align: "left" },
  { title: "", align: "left" },
] as const;

export function renderTable(rows: readonly Row[]): string {
  const lines = rows.flatMap(linesOf);
  const used = columns
    .map((column, index) => {
      const cells = lines.map((line) => line[index] ?? "");
      const width = Math.max(column.title.length, ...cells.map((cell) => cell.length));
      const pad = (cell: string) => (column.align === "left" ? cell.padEnd(width) : cell.padStart(width));
      return { empty: cells.every((cell) => cell === ""), cells: [column.title, ...cells].map(pad) };
    })
    .filter((column) => !column.empty);
  const shown = ["", ...lines].map((_, at) =>
    used
      .map((column) => column.cells[at])
      .join("  ")
      .trimEnd(),
  );
  const rule = "─".repeat(Math.max(...shown.map((line) => line.length)));
  return [shown[0], rule, ...shown.slice(1)].join("\n");
}

function linesOf(row: Row): string[][] {
  const [first, ...more] = row.limits;
  const barCells = (bar: Judged | undefined) =>
    bar === undefined ? ["", ""] : [bar.text, bar.ok ? "ok" : "short"];
  const limitCells = (limit: RowLimit | undefined) =>
    limit === undefined
      ? ["", "", "", ""]
      : [
          limit.name,
          number(limit.figure.median),
          spread(limit.figure),
          Number.isFinite(limit.ratio) ? limit.ratio.toFixed(2) : "",
        ];
  const line = [
    row.what,
    row.size === undefined ? "" : sizeName(row.size),
    row.lanes === undefined ? "" : String(row.lanes),
    number(row.store.median),
    spread(row.store),
    row.unit,
    ...limitCells(first),
    ...barCells(row.bar ?? first?.bar),
  ];
  const further = (limit: RowLimit) => ["", "", "", "", "", "", ...limitCells(limit), ...barCells(limit.bar)];
  return [line, ...more.map(further)];
}

export function number(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Returns half of the range of the rounds, as a percentage of their median. */
export function spread(figure: Figure): string {
  if (figure.rounds.length < 2 || figure.median === 0) return "";
  return `${Math.round(((figure.high - figure.low) / 2 / figure.median) * 100)}%`;
}
