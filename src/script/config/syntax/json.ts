// Parses JSON and JSONC, and explains syntax errors.
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { configError, type Fault, maxFaults, type SourceText, type Span, toLineColumn } from "./error.ts";
import {
  type ConfigPath,
  createPositions,
  depthFault,
  maxDepth,
  type ParsedConfig,
  type SourcePositions,
} from "./positions.ts";

/** JSONC is JSON with comments and trailing commas. */
export type JsonFormat = "json" | "jsonc";

export function parseJson(source: SourceText, format: JsonFormat): ParsedConfig {
  const errors: ParseError[] = [];
  const isJsonc = format === "jsonc";
  const tooDeep = findTooDeep(source.text);
  if (tooDeep !== undefined) throw configError(source, [depthFault(tooDeep)]);
  const tree = parseTree(source.text, errors, { disallowComments: !isJsonc, allowTrailingComma: isJsonc });
  const first = errors[0];
  if (first !== undefined || tree === undefined) {
    throw configError(source, [syntaxFault(source.text, first, format)]);
  }
  const positions = createPositions(toSpan(tree));
  const faults: Fault[] = [];
  const value = plainValue({ text: source.text, positions, faults }, tree, []);
  if (faults.length > 0) throw configError(source, faults);
  return { value, positions };
}

/** Finds too deep nesting before parsing: the parser is recursive and would overflow the stack. */
function findTooDeep(text: string): Span | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  // Token numbers of the scanner: 1 is "{", 2 is "}", 3 is "[", 4 is "]", 17 is the end.
  for (let token = scanner.scan() as number; token !== 17; token = scanner.scan()) {
    if (token === 1 || token === 3) depth++;
    else if (token === 2 || token === 4) depth--;
    if (depth > maxDepth) {
      const start = scanner.getTokenOffset();
      return { start, end: start + 1 };
    }
  }
  return undefined;
}

function toSpan({ offset, length }: Node | ParseError): Span {
  return { start: offset, end: offset + length };
}

interface Walk {
  readonly text: string;
  readonly positions: SourcePositions;
  readonly faults: Fault[];
}

function plainValue(walk: Walk, node: Node, path: ConfigPath): unknown {
  if (node.type === "array") {
    return (node.children ?? []).map((child, index) => {
      const element = [...path, index];
      walk.positions.set(element, { key: undefined, value: toSpan(child) });
      return plainValue(walk, child, element);
    });
  }
  if (node.type !== "object") return node.value;
  const entries = (node.children ?? []).map((property): [string, unknown] => {
    const [key, value] = property.children as [Node, Node];
    const name = String(key.value);
    const member = [...path, name];
    if (walk.positions.has(member)) {
      if (walk.faults.length <= maxFaults) walk.faults.push(duplicateKey(walk, name, key, member));
    } else walk.positions.set(member, { key: toSpan(key), value: toSpan(value) });
    return [name, plainValue(walk, value, member)];
  });
  return Object.fromEntries(entries);
}

function duplicateKey({ text, positions }: Walk, name: string, key: Node, path: ConfigPath): Fault {
  const { line } = toLineColumn(text, positions.find(path).key!.start);
  return {
    span: toSpan(key),
    message: `The key "${name}" is written twice: it is already on line ${line}.`,
    hint: "Keep one of the two.",
  };
}

type PartialFault = Omit<Fault, "span"> & { readonly span?: Span };

function syntaxFault(text: string, error: ParseError | undefined, format: JsonFormat): Fault {
  const end = text.trimEnd().length;
  const isEnd = error === undefined || error.offset >= end;
  const span = isEnd ? { start: Math.max(0, end - 1), end } : toSpan(error);
  const token = text.slice(span.start, span.end);
  const code = error === undefined ? "ValueExpected" : printParseErrorCode(error.error);
  if (end === 0) return { span, message: "The file is empty.", hint: 'Write: { "name": "…", "main": "…" }' };
  if (isEnd) return { span, ...endOfFileFault(code) };
  return { span, ...describeError(code, { text, at: span.start, token, format }) };
}

function endOfFileFault(code: string): PartialFault {
  const closing = code === "CloseBracketExpected" ? "]" : "}";
  return { message: "The file ends before everything is closed.", hint: `Close it with ${closing}` };
}

interface ParserStop {
  readonly text: string;
  readonly at: number;
  readonly token: string;
  readonly format: JsonFormat;
}

function describeError(code: string, stop: ParserStop): PartialFault {
  const { text, at, token, format } = stop;
  switch (code) {
    case "InvalidSymbol":
      return symbolFault(stop);
    case "PropertyNameExpected":
    case "ValueExpected":
      return missingTokenFault(code, stop);
    case "ColonExpected":
      return { message: "There is a colon missing between the key and its value." };
    case "CommaExpected":
      return { message: "There is a comma missing before this.", hint: `Write: , ${token}` };
    case "InvalidCommentToken":
      return {
        message: "JSON has no comments.",
        hint: "Remove it, or name the file store.jsonc, which may have them.",
      };
    case "UnexpectedEndOfComment":
      return { message: "The comment that begins here does not end.", hint: "Close it with */" };
    case "UnexpectedEndOfString":
      return {
        message: "The text that begins here does not end: its closing quote is missing.",
        hint: `Close it on the same line: ${token.trimEnd()}"`,
      };
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
      return {
        message: "There is a backslash in this text that means nothing.",
        hint: "For a backslash write \\\\",
      };
    case "InvalidCharacter":
      return {
        message: "There is a control character in this text.",
        hint: "Write it as an escape, such as \\t or \\n",
      };
    case "UnexpectedEndOfNumber":
    case "InvalidNumberFormat":
      return { message: `${token} is not a number.`, hint: "If it is meant as text, put it in quotes." };
    case "EndOfFileExpected":
      return { message: "There is text after the end of the object.", hint: "Remove it." };
    default:
      return { message: `This is not ${format === "json" ? "JSON" : "JSONC"}: ${text.slice(at, at + 20)}` };
  }
}

function symbolFault({ text, at, token }: ParserStop): PartialFault {
  const rest = text.slice(at + token.length);
  if (text.slice(0, at).trim() === "" && /^\s*=/.test(rest)) {
    return {
      message: "This looks like TOML, and the file is read as JSON.",
      hint: "Name the file store.toml.",
    };
  }
  const word = token.replace(/^['“”‘’]|['“”‘’]$/g, "");
  if (/^(?:true|false|null)$/i.test(word)) {
    return { message: `${token} is written in lowercase.`, hint: `Write: ${word.toLowerCase()}` };
  }
  const what = /^\s*:/.test(rest) ? "A key" : "Text";
  return { message: `${what} is written in double quotes.`, hint: `Write: ${JSON.stringify(word)}` };
}

function missingTokenFault(code: string, { text, at, token, format }: ParserStop): PartialFault {
  const before = text.slice(0, at).trimEnd();
  if (before.endsWith(",") && (token === "}" || token === "]")) {
    const span = { start: before.length - 1, end: before.length };
    const orRename = format === "json" ? ", or name the file store.jsonc" : "";
    return { message: "There is a comma after the last entry.", hint: `Remove it${orRename}.`, span };
  }
  if (token === ",") return { message: "There is a comma too many.", hint: "Remove it." };
  if (code === "PropertyNameExpected") return { message: "A key in double quotes is missing here." };
  return { message: "The value is missing.", hint: 'Write text in double quotes: "…"' };
}
