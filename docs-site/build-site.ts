// Builds the documentation as static pages, in memory: URLs with their contents.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { type RenderedPage, type ResolvedLink, renderMarkdown } from "./render-markdown.ts";
import { type SearchSection, searchScript } from "./search-index.ts";
import { readSiteMap, type SiteMap } from "./site-map.ts";
import { type NavigationSection, pageHtml } from "./template.ts";

export interface Site {
  /** Contents by URL, relative to the root of the site. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
}

export interface SiteOptions {
  /** The root of the repository. */
  readonly root: string;
  /** Path of the site on its host, for the page for missing keys; default: "/". */
  readonly base?: string;
}

interface SourcePage {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

export function buildSite({ root, base = "/" }: SiteOptions): Site {
  const map = readSiteMap(root);
  const home = readPage(root, map.home);
  const sections = map.sections.map((section) => ({
    ...section,
    pages: section.files.map((file) => readPage(root, file)),
  }));
  const pages = [home, ...sections.flatMap((section) => section.pages)];
  const links = createLinks(root, pages);
  const files = new Map<string, string | Uint8Array>();
  const searchSections: SearchSection[] = [];
  const navigation: readonly NavigationSection[] = sections.map((section) => ({
    title: section.title,
    pages: section.pages.map(({ url, title }) => ({ url, title: shortTitle(title) })),
  }));
  const layout = { siteTitle: map.title, navigation };
  for (const page of pages) {
    const rendered = renderMarkdown(page.text, (target) => links.resolve(page, target));
    const content = page === home ? rendered.html + sectionList(map, sections) : rendered.html;
    const title = page === home ? map.title : page.title;
    const { url } = page;
    files.set(url, pageHtml({ ...layout, title, url, content, headings: rendered.headings }));
    searchSections.push(...toSearchSections(page, rendered));
  }
  files.set("404.html", missingPage(layout, base));
  files.set("assets/search-index.js", searchScript(searchSections));
  for (const [url, bytes] of assets(root)) files.set(url, bytes);
  for (const url of links.figures) files.set(url, readFileSync(join(root, "docs", url)));
  return { files };
}

function readPage(root: string, file: string): SourcePage {
  const text = readFileSync(join(root, file), "utf8");
  const [, title] = /^# (.*)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${file} has no title: begin it with "# ".`);
  return { file, url: urlOf(file), title: title.replaceAll("`", ""), text };
}

/** `docs/how-to/x.md` is `how-to/x.html`; pages of the repository's root are in `project/`. */
function urlOf(file: string): string {
  const path = file.startsWith("docs/") ? file.slice("docs/".length) : `project/${file.toLowerCase()}`;
  return path.replace(/(^|\/)README\.md$/, "$1index.html").replace(/\.md$/, ".html");
}

/** In the navigation, "How to install" is "Install": its section is named How to. */
function shortTitle(title: string): string {
  const short = title.replace(/^How to /, "");
  return short.slice(0, 1).toUpperCase() + short.slice(1);
}

interface Links {
  resolve(page: SourcePage, target: string): ResolvedLink;
  /** Pictures and data that pages use, by URL. */
  readonly figures: Set<string>;
}

function createLinks(root: string, pages: readonly SourcePage[]): Links {
  const urls = new Map(pages.map(({ file, url }) => [file, url]));
  const figures = new Set<string>();
  const relative = (page: SourcePage, url: string) => posix.relative(posix.dirname(page.url), url);
  return {
    figures,
    resolve(page, target) {
      if (target.startsWith("#") || /^[a-z]+:/.test(target)) return { href: target };
      const [path = "", anchor] = target.split("#");
      const file = posix.join(posix.dirname(page.file), path).replace(/\/$/, "");
      const url = urls.get(file);
      if (url !== undefined)
        return { href: relative(page, url) + (anchor === undefined ? "" : `#${anchor}`) };
      if (file.startsWith("docs/figures/") && existsSync(join(root, file))) {
        figures.add(file.slice("docs/".length));
        return { href: relative(page, file.slice("docs/".length)) };
      }
      if (!existsSync(join(root, file)))
        throw new Error(`${page.file} links to ${target}, which does not exist.`);
      const isFolder = statSync(join(root, file)).isDirectory();
      const hasPages = isFolder && pages.some((one) => one.file.startsWith(`${file}/`));
      return hasPages ? { href: relative(page, "index.html") } : { path: file };
    },
  };
}

/** The front page ends with every page of the site, by kind. */
function sectionList(map: SiteMap, sections: readonly { readonly pages: readonly SourcePage[] }[]): string {
  return map.sections
    .map(({ kind, title, about }, i) => {
      const items = sections[i]!.pages.map((page) => `<li><a href="${page.url}">${page.title}</a></li>`);
      return `<section><h2 id="${kind}">${title}</h2>\n<p>${about}</p>\n<ul>${items.join("\n")}</ul></section>\n`;
    })
    .join("");
}

function toSearchSections(page: SourcePage, { texts, headings }: RenderedPage): SearchSection[] {
  return texts.map(({ anchor, text }, i) => ({
    url: i === 0 ? page.url : `${page.url}#${anchor}`,
    page: page.title,
    heading: headings[i]!.html.replaceAll(/<[^>]*>/g, ""),
    text,
  }));
}

function missingPage(
  layout: { readonly siteTitle: string; readonly navigation: readonly NavigationSection[] },
  base: string,
): string {
  const content = `<h1>Page not found</h1>\n<p>Nothing has this address. <a href="${base}index.html">All pages</a></p>\n`;
  return pageHtml({ ...layout, title: "Page not found", url: "404.html", base, content, headings: [] });
}

function assets(root: string): [string, Uint8Array][] {
  const folder = join(root, "docs-site", "assets");
  return readdirSync(folder).map((name) => [`assets/${name}`, readFileSync(join(folder, name))]);
}
