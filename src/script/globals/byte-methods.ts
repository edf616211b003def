// Base64 and hex methods of Uint8Array (fromBase64, toHex …) for Node versions without them.
import { Buffer } from "node:buffer";

interface Base64Options {
  readonly alphabet?: "base64" | "base64url";
  readonly omitPadding?: boolean;
}

const shapes = { base64: /^[A-Za-z0-9+/]*={0,2}$/, base64url: /^[A-Za-z0-9_-]*={0,2}$/ } as const;

function checkText(value: unknown, name: string): string {
  if (typeof value !== "string") throw new TypeError(`${name} takes a string.`);
  return value;
}

function readAlphabet(options: Base64Options | undefined): "base64" | "base64url" {
  const alphabet = options?.alphabet ?? "base64";
  if (alphabet === "base64" || alphabet === "base64url") return alphabet;
  throw new TypeError('The alphabet must be "base64" or "base64url".');
}

export const byteStatics = {
  fromBase64(text: unknown, options?: Base64Options) {
    const alphabet = readAlphabet(options);
    const compact = checkText(text, "fromBase64").replace(/[\t\n\f\r ]/g, "");
    const isPadded = compact.endsWith("=");
    const length = compact.length % 4;
    if (!shapes[alphabet].test(compact) || (isPadded ? length !== 0 : length === 1)) {
      throw new SyntaxError(`The text is not ${alphabet}.`);
    }
    return new Uint8Array(Buffer.from(compact, alphabet));
  },
  fromHex(text: unknown) {
    const digits = checkText(text, "fromHex");
    if (!/^([0-9a-fA-F]{2})*$/.test(digits)) throw new SyntaxError("The text is not pairs of hex digits.");
    return new Uint8Array(Buffer.from(digits, "hex"));
  },
};

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export const byteMethods = {
  toBase64(this: Uint8Array, options?: Base64Options) {
    const alphabet = readAlphabet(options);
    // Node pads base64 but not base64url, so padding is removed, then added for both alphabets.
    const text = toBuffer(this).toString(alphabet).replace(/=+$/, "");
    return options?.omitPadding ? text : text.padEnd(Math.ceil(text.length / 4) * 4, "=");
  },
  toHex(this: Uint8Array) {
    return toBuffer(this).toString("hex");
  },
};
