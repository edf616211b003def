// Reads docs/site.json: which pages the site has, in which of the four kinds, and in which order.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFields, isList, isText } from "../src/model/shape.ts";

export interface SiteSection {
  /** Anchor of the section on the front page. */
  readonly kind: string;
  readonly title: string;
  /** What a reader finds in the section. */
  readonly about: string;
  /** Paths of Markdown files from the root of the repository. */
  readonly files: readonly string[];
}

export interface SiteMap {
  readonly title: string;
  /** The Markdown file of the front page. */
  readonly home: string;
  readonly sections: readonly SiteSection[];
}

const maxText = 500;
const maxFiles = 500;
const isShortText = (value: unknown): value is string => isText(value, maxText);

export function readSiteMap(root: string): SiteMap {
  const parsed: unknown = JSON.parse(readFileSync(join(root, "docs", "site.json"), "utf8"));
  if (!isFields(parsed) || !isShortText(parsed.title) || !isShortText(parsed.home))
    throw invalid("title, home");
  const { title, home, sections } = parsed;
  if (!isList(sections, maxFiles, isFields)) throw invalid("sections");
  return { title, home, sections: sections.map((section) => readSection(root, section)) };
}

function readSection(root: string, fields: Readonly<Record<string, unknown>>): SiteSection {
  const { kind, title, about, pages } = fields;
  if (!isShortText(kind) || !isShortText(title) || !isShortText(about)) throw invalid("kind, title, about");
  if (!isList(pages, maxFiles, isShortText)) throw invalid(`pages of ${kind}`);
  return { kind, title, about, files: pages.flatMap((page) => expand(root, page)) };
}

/** `docs/decisions/*.md` stands for all Markdown files of that folder, by name. */
function expand(root: string, page: string): string[] {
  if (!page.endsWith("/*.md")) return [page];
  const folder = page.slice(0, -"/*.md".length);
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));
  return names.sort().map((name) => `${folder}/${name}`);
}

function invalid(what: string): Error {
  return new Error(`docs/site.json is not valid: check ${what}.`);
}
