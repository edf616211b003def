// Markdown, rendered by building elements: HTML in it stays text, images are not loaded, and only
// http, https and mailto links can be followed.
import { h } from "../elements/dom.js";

const maxLines = 5000;

/** @param {string} text */
export function render(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n").slice(0, maxLines);
  const container = h("div", { class: "markdown" });
  for (let i = 0; i < lines.length; ) i = block(lines, i, container);
  return container;
}

const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(.*)$/;
const tableLine = /^\s*\|.*\|\s*$/;
const blockStart = /^(#{1,6} |```|~~~|>|\s*(?:[-*+]|\d{1,9}[.)])\s|\s*\|.*\|\s*$|(?:[-*_]\s*){3,}$)/;

/**
 * Appends the block that begins at a line. Returns the index of the line after it.
 *
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {HTMLElement} into
 * @returns {number}
 */
function block(lines, at, into) {
  const line = lines[at] ?? "";
  if (line.trim() === "") return at + 1;
  const [mark] = /^(```|~~~)/.exec(line) ?? [];
  if (mark !== undefined) return codeBlock(lines, at, mark, into);
  const [, marks, title = ""] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
  if (marks !== undefined) {
    // The page has its own first heading.
    const level = /** @type {"h2"} */ (`h${Math.min(6, marks.length + 1)}`);
    into.append(h(level, {}, ...inline(title.replace(/\s#+\s*$/, ""))));
    return at + 1;
  }
  if (/^(?:[-*_]\s*){3,}$/.test(line)) {
    into.append(h("hr", {}));
    return at + 1;
  }
  if (line.startsWith(">")) {
    const end = endOf(lines, at, (one) => one.startsWith(">"));
    const quote = h("blockquote", {});
    const inner = lines.slice(at, end).map((one) => one.replace(/^> ?/, ""));
    for (let i = 0; i < inner.length; ) i = block(inner, i, quote);
    into.append(quote);
    return end;
  }
  if (listItem.test(line)) return list(lines, at, into);
  if (tableLine.test(line)) return tableBlock(lines, at, into);
  const end = endOf(lines, at + 1, (one) => one.trim() !== "" && !blockStart.test(one));
  into.append(h("p", {}, ...inline(lines.slice(at, end).join(" "))));
  return end;
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {(line: string) => boolean} continues
 */
function endOf(lines, at, continues) {
  let end = at;
  while (end < lines.length && continues(lines[end] ?? "")) end++;
  return Math.max(end, at);
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {string} mark
 * @param {HTMLElement} into
 */
function codeBlock(lines, at, mark, into) {
  const end = endOf(lines, at + 1, (one) => !one.startsWith(mark));
  into.append(h("pre", { class: "snippet" }, h("code", {}, lines.slice(at + 1, end).join("\n"))));
  return end + 1;
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {HTMLElement} into
 */
function list(lines, at, into) {
  const end = endOf(lines, at, (one) => listItem.test(one));
  const items = lines.slice(at, end).map((one) => h("li", {}, ...inline(listItem.exec(one)?.[1] ?? "")));
  into.append(h(/^\s*\d/.test(lines[at] ?? "") ? "ol" : "ul", {}, ...items));
  return end;
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {HTMLElement} into
 */
function tableBlock(lines, at, into) {
  const end = endOf(lines, at, (one) => tableLine.test(one));
  const rows = lines
    .slice(at, end)
    .filter((one) => !/^[\s|:-]+$/.test(one))
    .map((one) => one.trim().slice(1, -1).split("|"));
  const [head = [], ...body] = rows;
  into.append(
    h(
      "table",
      { class: "csv" },
      h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, ...inline(cell.trim()))))),
      h(
        "tbody",
        {},
        ...body.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, ...inline(cell.trim()))))),
      ),
    ),
  );
  return end;
}

const inlinePattern =
  /`(?<code>[^`]+)`|\*\*(?<bold>[^*]+)\*\*|\*(?<italic>[^*\s][^*]*)\*|!?\[(?<label>[^\]]*)\]\((?<url>[^)\s]+)[^)]*\)/g;

/**
 * @param {string} text
 * @returns {(Node | string)[]}
 */
function inline(text) {
  /** @type {(Node | string)[]} */
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(inlinePattern)) {
    const { code, bold, italic, label, url } = match.groups ?? {};
    nodes.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (code !== undefined) nodes.push(h("code", {}, code));
    else if (bold !== undefined) nodes.push(h("strong", {}, bold));
    else if (italic !== undefined) nodes.push(h("em", {}, italic));
    else if (url !== undefined && /^(https?:|mailto:)/i.test(url) && !match[0].startsWith("!"))
      nodes.push(h("a", { href: url, target: "_blank", rel: "noreferrer noopener" }, label || url));
    else nodes.push(label ?? "");
  }
  nodes.push(text.slice(end));
  return nodes;
}
