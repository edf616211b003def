// Parses a Markdown page: code blocks with heading and line, tables, links and anchors.
import assert from "node:assert/strict";

export interface Block {
  /** The text after the opening fence: `js`, or `toml wrong`. */
  readonly language: string;
  readonly text: string;
  /** The nearest heading above the block. */
  readonly heading: string;
  /** Line number of the first line of text, from 1. */
  readonly line: number;
}

const fence = "```";

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let heading = "";
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of page.split("\n").entries()) {
    if (open !== undefined && line === fence) {
      blocks.push({ ...open, heading, text: open.lines.join("\n") });
      open = undefined;
    } else if (open !== undefined) open.lines.push(line);
    else if (line.startsWith(fence)) open = { language: line.slice(3), line: index + 2, lines: [] };
    else if (line.startsWith("#")) heading = line.replace(/^#+ /, "");
  }
  assert.equal(open, undefined, "a code block is not closed");
  return blocks;
}

/** Returns the cells of the first table under a heading, without the header row. */
export function tableUnder(page: string, heading: string): string[][] {
  const section = page.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`));
  assert.ok(section, `there is no heading "${heading}"`);
  const [table = ""] = /(^\|.*\n)+/m.exec(section) ?? [];
  const [, , ...rows] = table.trimEnd().split("\n");
  return rows.map((row) =>
    row
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim()),
  );
}

/** Returns the targets of the page's relative links. */
export function linksOf(page: string): string[] {
  const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

/** Returns the anchors of the page's headings. */
export function anchorsOf(page: string): string[] {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!.toLowerCase());
  return headings.map((heading) => heading.replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-"));
}
