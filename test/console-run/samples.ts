// Small sample files for the previews of the console.
import { deflateSync } from "node:zlib";
import { crc32 } from "@node-rs/crc32";

/** Returns a PNG of a sky over a meadow. */
export function png(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Bit depth 8 and colour type 2 (RGB), with the default compression, filter and interlacing.
  head.set([8, 2, 0, 0, 0], 8);
  const lineBytes = 1 + 3 * width;
  const lines = Buffer.alloc(lineBytes * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const hill = 0.62 + 0.08 * Math.sin((5 * x) / width + 1);
      const isSky = y / height < hill;
      const light = Math.round((60 * y) / height);
      lines.set(isSky ? [120 + light, 170 + light, 235] : [70 + light, 150, 60], y * lineBytes + 1 + 3 * x);
    }
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pieces = [pngPiece("IHDR", head), pngPiece("IDAT", deflateSync(lines)), pngPiece("IEND", nothing)];
  return Buffer.concat([signature, ...pieces]);
}

const nothing = new Uint8Array();

function pngPiece(name: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name), content]);
  const piece = Buffer.alloc(body.length + 8);
  piece.writeUInt32BE(content.length, 0);
  piece.set(body, 4);
  piece.writeUInt32BE(crc32(body), body.length + 4);
  return piece;
}

/** Returns a silent WAV. */
export function wav(seconds: number): Buffer {
  const rate = 8000;
  const size = Math.round(seconds * rate);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + size, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(size, 40);
  return Buffer.concat([head, Buffer.alloc(size, 128)]);
}

export function pdfText(text: string): string {
  return [
    "%PDF-1.4",
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj",
    `4 0 obj<</Length ${text.length + 36}>>stream`,
    `BT /F1 36 Tf 40 90 Td (${text}) Tj ET`,
    "endstream endobj",
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj",
    "trailer<</Root 1 0 R>>",
  ].join("\n");
}
