// Validates headers: lower-case names, and values as byte strings (one character per byte). As in
// Cloudflare Workers, text is sent as UTF-8, and bytes that are valid UTF-8 are read as text.
import { Buffer, isUtf8 } from "node:buffer";

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const plain = /^[\t\x20-\x7e]*$/;
const forbidden = /[\0\n\r]/;
const outerSpace = /^[\t\n\r ]+|[\t\n\r ]+$/g;

/** Cache of lower-case names: most requests use the same few names. */
const seenNames = new Map<string, string>();
const maxSeenNames = 1000;
const maxSeenNameLength = 64;

export function headerName(name: unknown): string {
  return seenNames.get(name as string) ?? checkName(`${name as string}`);
}

function checkName(name: string): string {
  if (!token.test(name)) {
    throw new TypeError(
      `Invalid header name ${JSON.stringify(name)}: use letters, digits and !#$%&'*+-.^_\`|~ only.`,
    );
  }
  const lower = name.toLowerCase();
  if (seenNames.size < maxSeenNames && name.length <= maxSeenNameLength) seenNames.set(name, lower);
  return lower;
}

export function headerValue(value: unknown): string {
  const input = typeof value === "string" ? value : `${value as string}`;
  const text = isSpace(input, 0) || isSpace(input, input.length - 1) ? input.replace(outerSpace, "") : input;
  if (plain.test(text)) return text;
  if (forbidden.test(text)) {
    throw new TypeError(`Invalid header value ${JSON.stringify(text)}: it contains a line break or a NUL.`);
  }
  return bytesFromText(text);
}

function isSpace(text: string, index: number): boolean {
  return text.charCodeAt(index) <= 0x20;
}

/** Text that is already a byte string of valid UTF-8 is kept: received headers have this form. */
function bytesFromText(text: string): string {
  const isBytes = !/[^\x00-\xff]/.test(text) && isUtf8(Buffer.from(text, "latin1"));
  return isBytes ? text : Buffer.from(text, "utf8").toString("latin1");
}

export function textFromBytes(value: string): string {
  if (plain.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}
