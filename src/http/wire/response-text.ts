// Formats the head of a response, with the headers that Node's HTTP server would add.
import { STATUS_CODES } from "node:http";
import { toLowerCase } from "./parse-head.ts";

export interface ResponseHeadOptions {
  readonly status: number;
  readonly statusText: string | undefined;
  readonly headers: Iterable<readonly [string, string]>;
  /** Length of the body; undefined if it is not known. */
  readonly length: number | undefined;
  readonly isBodyAllowed: boolean;
  /** Seconds that an idle connection stays open; undefined to omit Date, Connection and Keep-Alive. */
  readonly keepAliveSeconds: number | undefined;
  /** Whether the connection is closed after the response; a header may say so too. */
  readonly closes: boolean;
}

export interface ResponseText {
  readonly text: string;
  readonly framing: Framing;
  readonly closes: boolean;
}

/** How the end of a body is marked: by its length, or by a last chunk. */
export type Framing = "length" | "chunked";

const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Throws a TypeError if a header is not valid. */
export function formatResponseHead(options: ResponseHeadOptions): ResponseText {
  const { status, statusText, headers, length, isBodyAllowed, keepAliveSeconds } = options;
  let { closes } = options;
  const reason = statusText || STATUS_CODES[status] || "unknown";
  if (invalidValue.test(reason)) throw new TypeError("A response has an invalid status text.");
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  let hasLength = false;
  let hasDate = false;
  for (const [name, value] of headers) {
    const lowerCase = toLowerCase(name);
    if (lowerCase === undefined || invalidValue.test(value)) {
      throw new TypeError(`A response has an invalid header: ${JSON.stringify(name.slice(0, 100))}.`);
    }
    if (lowerCase === "content-length") hasLength = true;
    else if (lowerCase === "date") hasDate = true;
    else if (lowerCase === "connection") {
      closes ||= value.toLowerCase() === "close";
      continue;
    }
    text += `${name}: ${value}\r\n`;
  }
  if (keepAliveSeconds !== undefined && !hasDate) text += `Date: ${currentDate()}\r\n`;
  if (closes) text += "Connection: close\r\n";
  else if (keepAliveSeconds !== undefined) {
    text += `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`;
  }
  if (!isBodyAllowed || hasLength) return { text: `${text}\r\n`, framing: "length", closes };
  if (length !== undefined) {
    return { text: `${text}content-length: ${length}\r\n\r\n`, framing: "length", closes };
  }
  return { text: `${text}Transfer-Encoding: chunked\r\n\r\n`, framing: "chunked", closes };
}

let dateSecond = 0;
let dateText = "";

function currentDate(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
