// A strict parser of the bytes a server sent: complete HTTP responses in sequence, nothing more.

export interface WireResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const statusLine = /^HTTP\/1\.1 (\d{3}) [\t\x20-\x7e\x80-\xff]*$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/** Thrown if the data ends before the response does. */
class BrokenOff extends Error {}

/** Parses responses; throws on other data. `mayBreakOff`: the last one may be incomplete. */
export function readResponses(text: string, mayBreakOff: boolean): WireResponse[] {
  const found: WireResponse[] = [];
  try {
    for (let at = 0; at < text.length; ) {
      const { response, end } = readResponse(text, at);
      if (response.status >= 200) found.push(response);
      at = end;
    }
  } catch (error) {
    if (!mayBreakOff || !(error instanceof BrokenOff)) throw error;
  }
  return found;
}

function readResponse(
  text: string,
  start: number,
): { readonly response: WireResponse; readonly end: number } {
  const headEnd = text.indexOf("\r\n\r\n", start);
  if (headEnd === -1) throw new BrokenOff(`an incomplete head: ${shown(text, start)}`);
  const [first = "", ...lines] = text.slice(start, headEnd).split("\r\n");
  const status = Number(statusLine.exec(first)?.[1]);
  if (!(status >= 100 && status < 600)) throw new Error(`not a valid status line: ${shown(text, start)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const match = headerLine.exec(line);
    if (match === null) throw new Error(`not a valid header: ${JSON.stringify(line)}`);
    headers.set(match[1]!.toLowerCase(), match[2]!);
  }
  const { body, end } = bodyOf(text, headEnd + 4, status, headers);
  return { response: { status, headers, body }, end };
}

interface Body {
  readonly body: string;
  readonly end: number;
}

/** Parses a body. A response to HEAD declares a body without sending it. */
function bodyOf(text: string, at: number, status: number, headers: WireResponse["headers"]): Body {
  const none = { body: "", end: at };
  if (status < 200 || status === 204 || status === 304) return none;
  const length = headers.get("content-length");
  if (headers.get("transfer-encoding") === "chunked") {
    const chunked = isBoundary(text, at) ? none : chunkedBody(text, at);
    if (chunked !== undefined && isBoundary(text, chunked.end)) return chunked;
  } else if (length === undefined) {
    return { body: text.slice(at), end: text.length };
  } else if (/^\d+$/.test(length)) {
    const end = at + Number(length);
    if (end <= text.length && isBoundary(text, end)) return { body: text.slice(at, end), end };
    if (isBoundary(text, at)) return none;
    if (end > text.length) throw new BrokenOff(`an incomplete body: ${shown(text, at)}`);
  }
  throw new Error(`a body that does not match its declared length: ${shown(text, at)}`);
}

function chunkedBody(text: string, start: number): Body | undefined {
  let body = "";
  for (let at = start; ; ) {
    const match = /^([0-9a-f]+)\r\n/i.exec(text.slice(at, at + 20));
    if (match === null && text.length - at < 20)
      throw new BrokenOff(`incomplete chunks: ${shown(text, start)}`);
    if (match === null) return undefined;
    const [from, size] = [at + match[0].length, Number.parseInt(match[1]!, 16)];
    if (from + size + 2 > text.length) throw new BrokenOff(`incomplete chunks: ${shown(text, start)}`);
    if (text.slice(from + size, from + size + 2) !== "\r\n") return undefined;
    if (size === 0) return { body, end: from + 2 };
    body += text.slice(from, from + size);
    at = from + size + 2;
  }
}

function isBoundary(text: string, at: number): boolean {
  return at === text.length || text.startsWith("HTTP/1.1 ", at);
}

function shown(text: string, at: number): string {
  return JSON.stringify(text.slice(at, at + 300));
}
