// Text with simple highlighting: comments, strings, numbers and keywords of common languages.
import { h } from "../elements/dom.js";

/** Longer texts are shown without colours, so that the page stays fast. */
const maxHighlighted = 100_000;

const words =
  "as async await break case catch class const continue def default defer del do elif else end enum except export extends false finally fn for from func function go if impl import in interface is lambda let match mod module mut new nil none not null or package pass private protected pub public raise return self select static struct super switch then this throw trait true try type undefined use var void where while with yield";
const keywords = new Set(words.split(" "));

const hashComments = /\.(py|sh|rb|ya?ml|toml|conf|ini|env)$/i;
const slashComments = /\.(m?[jt]sx?|css|go|rs|c|h|java|php|sql)$/i;
const markup = /\.(html?|xml|svg)$/i;

/**
 * @param {string} text
 * @param {{ key: string }} options
 */
export function render(text, { key }) {
  const pre = h("pre", {});
  const pattern = text.length > maxHighlighted ? undefined : tokenPattern(key);
  if (pattern === undefined) pre.append(text);
  else pre.append(...highlight(text, pattern));
  return pre;
}

/** @param {string} key */
function tokenPattern(key) {
  const strings = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`;
  const rest = `(?<string>${strings})|(?<number>\\b\\d[\\d_.]*\\b)|(?<word>\\b[A-Za-z_]+\\b)`;
  if (hashComments.test(key)) return new RegExp(`(?<comment>#[^\\n]*)|${rest}`, "g");
  if (slashComments.test(key)) {
    const comments = /\.sql$/i.test(key) ? "--[^\\n]*" : "//[^\\n]*";
    return new RegExp(`(?<comment>${comments}|/\\*[\\s\\S]*?\\*/)|${rest}`, "g");
  }
  if (markup.test(key))
    return /(?<comment><!--[\s\S]*?-->)|(?<word><\/?[A-Za-z][\w:-]*|\/?>)|(?<string>"[^"\n]*")/g;
  return undefined;
}

/**
 * @param {string} text
 * @param {RegExp} pattern
 */
function highlight(text, pattern) {
  /** @type {(Node | string)[]} */
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const [token] = match;
    const { comment, string, number, word } = match.groups ?? {};
    const isMarkup = word?.startsWith("<") === true || word?.endsWith(">") === true;
    const kind =
      comment !== undefined
        ? "comment"
        : string !== undefined
          ? "string"
          : number !== undefined
            ? "number"
            : isMarkup || keywords.has(word ?? "")
              ? "keyword"
              : undefined;
    if (kind === undefined) continue;
    nodes.push(text.slice(end, match.index), h("span", { class: `token-${kind}` }, token));
    end = match.index + token.length;
  }
  nodes.push(text.slice(end));
  return nodes;
}
