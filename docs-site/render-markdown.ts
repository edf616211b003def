// Renders a Markdown page as HTML, with anchors of headings as GitHub makes them, so that links work
// in the repository and on the site.
import { Marked, type RendererObject, type Tokens } from "marked";
import { escapeHtml } from "./html.ts";

export interface Heading {
  readonly depth: number;
  readonly anchor: string;
  /** The heading as HTML, without links. */
  readonly html: string;
}

export interface RenderedPage {
  readonly html: string;
  readonly headings: readonly Heading[];
  /** The text under each heading, for the search. The first section has the title's anchor. */
  readonly texts: readonly { readonly anchor: string; readonly text: string }[];
}

/** A target on the site, or the path of a file that only the repository has. */
export type ResolvedLink = { readonly href: string } | { readonly path: string };

export function renderMarkdown(text: string, resolve: (target: string) => ResolvedLink): RenderedPage {
  const headings: Heading[] = [];
  const nextAnchor = createAnchors();
  const renderer: RendererObject = {
    ...textRenderers,
    heading({ tokens, depth, text: source }) {
      const anchor = nextAnchor(source);
      const html = this.parser.parseInline(tokens);
      headings.push({ depth, anchor, html: html.replaceAll(/<\/?a\b[^>]*>/g, "") });
      const label = escapeHtml(`Link to “${source.replaceAll("`", "")}”`);
      const link = `<a class="anchor" href="#${anchor}" aria-label="${label}">#</a>`;
      return `<h${depth} id="${anchor}">${html} ${link}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      const resolved = resolve(href);
      if ("href" in resolved) return `<a href="${escapeHtml(resolved.href)}">${inner}</a>`;
      return `<span class="source" title="In the source tree: ${escapeHtml(resolved.path)}">${inner}</span>`;
    },
    image({ href, text: description }) {
      const resolved = resolve(href);
      if (!("href" in resolved)) throw new Error(`The picture ${href} is not part of the site.`);
      return `<img src="${escapeHtml(resolved.href)}" alt="${escapeHtml(description)}" loading="lazy">`;
    },
  };
  const html = new Marked({ renderer }).parse(text, { async: false });
  return { html, headings, texts: textsOf(html, headings) };
}

/** Renderers that do not depend on the page. Wide tables and code scroll and can be focused. */
const textRenderers: RendererObject = {
  code({ text }) {
    return `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`;
  },
  table({ header, rows }) {
    const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
    // An empty header cell would be announced as a header without a name.
    const head = header.map((cell) =>
      cell.text === "" ? "<td></td>" : `<th scope="col">${inline(cell)}</th>`,
    );
    const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join("")}</tr>\n`);
    const headRow = header.every(({ text }) => text === "")
      ? ""
      : `<thead><tr>${head.join("")}</tr></thead>\n`;
    const table = `<table>\n${headRow}<tbody>\n${body.join("")}</tbody>\n</table>`;
    return `<div class="table" role="group" aria-label="Table" tabindex="0">${table}</div>\n`;
  },
  html({ text }) {
    return text.trimStart().startsWith("<!--") ? "" : escapeHtml(text);
  },
};

/** Returns anchors as GitHub does: repeated headings get a number. */
function createAnchors(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-");
    const count = used.get(name) ?? 0;
    used.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  };
}

function textsOf(html: string, headings: readonly Heading[]): { anchor: string; text: string }[] {
  const [, ...parts] = html.split(/(?=<h[1-6] id=")/);
  return parts.map((part, i) => ({ anchor: headings[i]!.anchor, text: plainText(part) }));
}

function plainText(html: string): string {
  const decode: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => decode[name]!);
}
