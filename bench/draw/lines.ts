// Draws growth as line charts with two logarithmic axes, where a power law is a straight line.
import { number } from "../table.ts";
import { colours, page, round, titleHeight, words } from "./svg.ts";

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Panel {
  readonly title: string;
  readonly across: string;
  readonly lines: readonly Line[];
}

const width = 920;
const panelHeight = 250;
const plot = { left: 90, wide: 470, top: 34, high: 165 } as const;

export function linesOf(title: string, panels: readonly Panel[], footer: readonly string[]): string {
  const parts = panels.flatMap((panel, index) => drawn(panel, titleHeight + index * panelHeight));
  return page({ width, height: panels.length * panelHeight, title, footer, parts });
}

function drawn({ title, across, lines }: Panel, top: number): string[] {
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const ys = lines.flatMap(({ points }) => points.map(([, y]) => y)).filter((y) => y > 0);
  const xAxis = axis(xs);
  const yAxis = axis(ys);
  const bottom = top + plot.top + plot.high;
  const atX = (x: number) => plot.left + xAxis.place(x) * plot.wide;
  const atY = (y: number) => bottom - yAxis.place(Math.max(y, yAxis.ticks[0]!)) * plot.high;
  const parts = [words(title, { x: 20, y: top + 16, look: "title" })];
  for (const tick of yAxis.ticks) {
    const y = round(atY(tick));
    parts.push(`<line class="rule" x1="${plot.left}" x2="${plot.left + plot.wide}" y1="${y}" y2="${y}"/>`);
    parts.push(words(number(tick), { x: plot.left - 8, y: y + 4, look: "quiet", anchor: "end" }));
  }
  for (const tick of new Set(xs)) {
    parts.push(
      words(tick.toLocaleString("en"), { x: atX(tick), y: bottom + 18, look: "quiet", anchor: "middle" }),
    );
  }
  parts.push(
    words(across, { x: plot.left + plot.wide / 2, y: bottom + 36, look: "quiet", anchor: "middle" }),
  );
  for (const [index, { name, points }] of lines.entries()) {
    const colour = colours[index % colours.length]!;
    const places = points.map(([x, y]) => `${round(atX(x))},${round(atY(y))}`);
    parts.push(`<polyline points="${places.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    parts.push(...places.map((place) => dot(place, colour)));
    const beside = { x: plot.left + plot.wide + 34, y: top + plot.top + 8 + index * 20 };
    parts.push(dot(`${beside.x - 10},${beside.y - 4}`, colour));
    parts.push(words(`${name}: ${number(points[0]![1])} … ${number(points.at(-1)![1])}`, beside));
  }
  return parts;
}

function dot(place: string, colour: string): string {
  const [x, y] = place.split(",");
  return `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`;
}

/** Creates a logarithmic axis of whole powers of ten; `place` returns a position from 0 to 1. */
function axis(values: readonly number[]) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    place: (value: number) => (Math.log10(value) - low) / (high - low),
  };
}
