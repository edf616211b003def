// The HTML around a page: header, navigation, contents of the page, links to its neighbours.
import { posix } from "node:path";
import { escapeHtml } from "./html.ts";
import type { Heading } from "./render-markdown.ts";

export interface NavigationPage {
  readonly url: string;
  readonly title: string;
}

export interface NavigationSection {
  readonly title: string;
  readonly pages: readonly NavigationPage[];
}

export interface PageLayout {
  readonly siteTitle: string;
  readonly title: string;
  readonly url: string;
  /** Prefix of all links; default: relative links. The page for missing keys has no fixed address. */
  readonly base?: string;
  readonly content: string;
  readonly headings: readonly Heading[];
  readonly navigation: readonly NavigationSection[];
}

/** Nothing is loaded from elsewhere, and no code is in the pages. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

export function pageHtml(layout: PageLayout): string {
  const { siteTitle, title, content } = layout;
  const link = (target: string) => linkTo(layout, target);
  const heading = title === siteTitle ? title : `${title} – ${siteTitle}`;
  return `<!doctype html>
<html lang="en" data-root="${escapeHtml(link(""))}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(heading)}</title>
<link rel="stylesheet" href="${link("assets/site.css")}">
<link rel="icon" href="${link("assets/icon.svg")}" type="image/svg+xml">
<script src="${link("assets/theme.js")}"></script>
<script src="${link("assets/search.js")}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${link("index.html")}">${escapeHtml(siteTitle)}</a>
<a class="to-contents" href="#contents">Contents</a>
<div id="search" role="search" hidden></div>
<button id="theme" type="button" hidden>Dark</button>
</header>
<main id="content">
${withContents(content, layout.headings)}${neighbours(layout)}</main>
<nav id="contents" aria-label="Contents">
${navigationHtml(layout)}</nav>
</body>
</html>
`;
}

function linkTo({ url, base }: PageLayout, target: string): string {
  if (base !== undefined) return `${base}${target}`;
  const relative = posix.relative(posix.dirname(url), target === "" ? "." : target);
  return target === "" ? (relative === "" ? "./" : `${relative}/`) : relative;
}

/** Adds a list of the headings below the title, if there are several. */
function withContents(content: string, headings: readonly Heading[]): string {
  const listed = headings.filter(({ depth }) => depth === 2);
  if (listed.length < 3) return content;
  const items = listed.map(({ anchor, html }) => `<li><a href="#${anchor}">${html}</a></li>`);
  const list = `<details class="headings"><summary>On this page</summary>\n<ul>${items.join("\n")}</ul></details>\n`;
  return content.replace("</h1>\n", () => `</h1>\n${list}`);
}

function neighbours(layout: PageLayout): string {
  const section = layout.navigation.find(({ pages }) => pages.some(({ url }) => url === layout.url));
  if (section === undefined) return "";
  const position = section.pages.findIndex(({ url }) => url === layout.url);
  const links = [
    ["Previous", section.pages[position - 1]] as const,
    ["Next", section.pages[position + 1]] as const,
  ].flatMap(([label, page]) =>
    page === undefined
      ? []
      : [`<a href="${linkTo(layout, page.url)}">${label}: ${escapeHtml(page.title)}</a>`],
  );
  return links.length === 0 ? "" : `<p class="neighbours">${links.join(" ")}</p>\n`;
}

function navigationHtml(layout: PageLayout): string {
  return layout.navigation
    .map(({ title, pages }) => {
      const items = pages.map((page) => {
        const current = page.url === layout.url ? ' aria-current="page"' : "";
        return `<li><a href="${linkTo(layout, page.url)}"${current}>${escapeHtml(page.title)}</a></li>`;
      });
      const open = pages.some(({ url }) => url === layout.url) || pages.length <= 20 ? " open" : "";
      return `<details${open}><summary>${escapeHtml(title)}</summary>\n<ul>\n${items.join("\n")}\n</ul></details>\n`;
    })
    .join("");
}
