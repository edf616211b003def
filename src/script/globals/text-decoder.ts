// A TextDecoder for Node versions that decode some single-byte encodings incorrectly, such as
// windows-1252 as Latin-1, or do not support them.
import { Buffer } from "node:buffer";
import { toBytes } from "../../binding/arguments.ts";

const NativeTextDecoder = globalThis.TextDecoder;
const unmapped = 0xfffd;

/** Encodings that Node does not support; each has one label. */
const unknownEncodings: readonly string[] = ["iso-8859-16", "x-user-defined"];

/** Corrections of Node's tables: characters for consecutive bytes, starting at `first`. */
const corrections: Readonly<Record<string, readonly (readonly [first: number, characters: string])[]>> = {
  ibm866: [],
  "iso-8859-16": [
    [
      0xa0,
      "\u00a0ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ",
    ],
  ],
  "koi8-u": [
    [0xae, "ў"],
    [0xbe, "Ў"],
  ],
  "windows-1252": [[0x80, "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"]],
  "windows-1253": [[0xaa, "\ufffd"]],
  "windows-1255": [[0xca, "\u05ba"]],
  "windows-874": [
    [0xdb, "\ufffd\ufffd\ufffd\ufffd"],
    [0xfc, "\ufffd\ufffd\ufffd\ufffd"],
  ],
  "x-user-defined": [],
};

const tables = new Map<string, Uint16Array>();

/** Returns the UTF-16 code unit of each byte. */
function tableFor(encoding: string): Uint16Array {
  const cached = tables.get(encoding);
  if (cached !== undefined) return cached;
  const table = Uint16Array.from({ length: 256 }, (_, byte) => byte);
  for (let byte = 0x80; byte < 0x100; byte++) {
    if (encoding === "x-user-defined") table[byte] = 0xf700 + byte;
    else if (!unknownEncodings.includes(encoding)) {
      table[byte] = new NativeTextDecoder(encoding).decode(Uint8Array.of(byte)).charCodeAt(0);
    }
  }
  for (const [first, characters] of corrections[encoding]!) {
    for (let index = 0; index < characters.length; index++)
      table[first + index] = characters.charCodeAt(index);
  }
  tables.set(encoding, table);
  return table;
}

export class TextDecoder {
  readonly #decoder: InstanceType<typeof NativeTextDecoder>;
  /** The encoding to decode by table; undefined when Node's decoder is correct. */
  readonly #corrected: string | undefined;

  constructor(label: string = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = `${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "").toLowerCase();
    const isUnknown = unknownEncodings.includes(name);
    this.#decoder = new NativeTextDecoder(isUnknown ? "utf-8" : label, options);
    const encoding = isUnknown ? name : this.#decoder.encoding;
    if (encoding in corrections) this.#corrected = encoding;
  }

  get encoding(): string {
    return this.#corrected ?? this.#decoder.encoding;
  }

  get fatal(): boolean {
    return this.#decoder.fatal;
  }

  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }

  decode(input: Uint8Array | undefined = undefined, options: { stream?: boolean } = {}): string {
    if (this.#corrected === undefined) return this.#decoder.decode(input, options);
    if (input === undefined) return "";
    const bytes = toBytes(input);
    if (bytes === undefined) throw new TypeError("decode() takes an ArrayBuffer or a view of one.");
    const table = tableFor(this.#corrected);
    const units = Uint16Array.from(bytes, (byte) => table[byte]!);
    if (this.fatal && units.includes(unmapped)) {
      throw new TypeError(`The encoded data was not valid for encoding ${this.#corrected}`);
    }
    return Buffer.from(units.buffer).toString("utf16le");
  }
}

for (const name of ["decode", "encoding", "fatal", "ignoreBOM"]) {
  Object.defineProperty(TextDecoder.prototype, name, { enumerable: true });
}
Object.defineProperty(TextDecoder.prototype, Symbol.toStringTag, {
  value: "TextDecoder",
  configurable: true,
});

/** Whether Node decodes windows-1252, the most common of these encodings, correctly. */
export function decodesWindows1252(): boolean {
  return new NativeTextDecoder("windows-1252").decode(Uint8Array.of(0x80)) === "€";
}
