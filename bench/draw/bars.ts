// Draws rows as a bar chart: one group per row, with a bar for Store and for each limit.
// The length of a bar is its share of the highest value in its group.
import { type Row, sizeName } from "../section.ts";
import { number } from "../table.ts";
import { colours, page, round, titleHeight, words } from "./svg.ts";

const width = 860;
const barHeight = 14;
const step = 19;
const groupGap = 34;
const left = 250;
const longest = 380;

export function barsOf(title: string, rows: readonly Row[], footer: readonly string[]): string {
  const names = [...new Set(rows.flatMap((row) => row.limits.map(({ name }) => plain(name))))];
  const colourOf = (name: string) =>
    name === "store" ? colours[0] : colours[1 + (names.indexOf(plain(name)) % (colours.length - 1))]!;
  const parts: string[] = [];
  let y = titleHeight;
  for (const row of rows) {
    const bars = [
      { name: "store", value: row.store.median, ratio: undefined },
      ...row.limits.map(({ name, figure, ratio }) => ({ name, value: figure.median, ratio })),
    ];
    const highest = Math.max(...bars.map(({ value }) => value));
    parts.push(words(headOf(row), { x: 20, y: y + 12, look: "title" }));
    y += 22;
    for (const { name, value, ratio } of bars) {
      const long = Math.max(1, (value / highest) * longest);
      const size = `width="${round(long)}" height="${barHeight}"`;
      parts.push(
        words(name, { x: left - 10, y: y + 11, anchor: "end" }),
        `<rect x="${left}" y="${y}" ${size} fill="${colourOf(name)}"/>`,
        words(told(value, row, ratio), { x: left + long + 8, y: y + 11, look: "quiet" }),
      );
      y += step;
    }
    y += groupGap - step;
  }
  return page({ width, height: y - titleHeight, title, footer, parts });
}

export function headOf({ what, size, lanes }: Row): string {
  const words = [
    what,
    size === undefined ? "" : sizeName(size),
    lanes === undefined ? "" : `${lanes} at a time`,
  ];
  return words.filter((word) => word !== "").join(", ");
}

/** Removes the durability suffix of a name, so that a peer has the same colour in all rows. */
function plain(name: string): string {
  return name.split(",")[0]!;
}

function told(value: number, { unit }: Row, ratio: number | undefined): string {
  const said = `${number(value)} ${unit}`;
  return ratio === undefined ? said : `${said} (store: ${number(ratio)}×)`;
}
