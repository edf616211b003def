// SVG page and text elements shared by the charts; readable on light and dark backgrounds.

/** Colours that colour-blind readers can distinguish, on both backgrounds. The first is Store's. */
export const colours = [
  ...["#d9480f", "#3b82c4", "#2b9a66", "#a855c7"],
  ...["#b58a00", "#7d8590", "#c2447a", "#8a6242"],
] as const;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .ground { fill: #ffffff } .quiet { fill: #59636e } .title { font-weight: 600; font-size: 14px }
  .rule { stroke: #d1d9e0; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .ground { fill: #0d1117 } .quiet { fill: #9198a1 } .rule { stroke: #3d444d }
  }`;

export interface Page {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** Lines at the bottom: command, machine and date. */
  readonly footer: readonly string[];
  readonly parts: readonly string[];
}

export const titleHeight = 44;
const lineHeight = 17;

/** `height` is the height of `parts`; title and footer are added to it. */
export function page({ width, height, title, footer, parts }: Page): string {
  const total = titleHeight + height + footer.length * lineHeight + 20;
  const foot = footer.map((line, index) =>
    words(line, { x: 20, y: titleHeight + height + 16 + index * lineHeight, look: "quiet" }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-label="${escaped(title)}">
<style>${style}
</style>
<rect class="ground" width="${width}" height="${total}"/>
${words(title, { x: 20, y: 28, look: "title" })}
${[...parts, ...foot].join("\n")}
</svg>
`;
}

export interface Standing {
  readonly x: number;
  readonly y: number;
  readonly look?: "title" | "quiet";
  readonly anchor?: "start" | "middle" | "end";
}

export function words(text: string, { x, y, look, anchor }: Standing): string {
  const attributes = [
    ...[`x="${round(x)}"`, `y="${round(y)}"`],
    ...(look === undefined ? [] : [`class="${look}"`]),
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
  ];
  return `<text ${attributes.join(" ")}>${escaped(text)}</text>`;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
