// Files of a backup. A file longer than one piece is several objects, so that memory is bounded,
// an interrupted upload continues with the next piece, and no unfinished multipart upload is left.
//   <name>          the first piece
//   <name>.000001   the second piece, and so on
import { StoreError } from "../model/errors.ts";
import { type Codec, damagedObject } from "./codec.ts";
import type { ObjectStore } from "./object-store.ts";

export const pieceBytes = 8 * 1024 * 1024;

export interface Files {
  /** Uploads a file of known size. Pieces that `has` names are read, but not sent again. */
  write(
    name: string,
    size: number,
    chunks: AsyncIterable<Uint8Array>,
    has?: (piece: Piece) => boolean,
  ): Promise<void>;
  /** Yields the verified bytes of a file of known size. */
  read(name: string, size: number): AsyncGenerator<Uint8Array>;
  /** Yields the objects of a file. */
  pieces(name: string, size: number): Generator<Piece>;
}

export interface Piece {
  readonly name: string;
  /** Size of the object, with encryption or digest. */
  readonly stored: number;
  readonly length: number;
}

export function createFiles(objects: ObjectStore, codec: Codec): Files {
  // Not a list: a changed manifest may name a size with more pieces than fit into memory.
  function* pieces(name: string, size: number): Generator<Piece> {
    for (let index = 0, at = 0; index === 0 || at < size; index++, at += pieceBytes) {
      const length = Math.min(pieceBytes, size - at);
      yield { name: pieceName(name, index), length, stored: codec.storedSize(length) };
    }
  }

  return {
    pieces,

    async write(name, size, chunks, has = () => false) {
      const expected = pieces(name, size);
      const nextPiece = (): Piece | undefined => expected.next().value ?? undefined;
      let piece = nextPiece();
      let buffer = Buffer.allocUnsafeSlow(piece!.length);
      let filled = 0;
      const send = async () => {
        if (!has(piece!)) await objects.put(piece!.name, codec.seal(piece!.name, buffer));
        filled = 0;
        piece = nextPiece();
        // The last buffer of a file is shorter; a sent buffer may be filled again.
        if (piece !== undefined && piece.length !== buffer.length)
          buffer = Buffer.allocUnsafeSlow(piece.length);
      };
      for await (const chunk of chunks) {
        for (let taken = 0; taken < chunk.length; ) {
          if (piece === undefined) throw new RangeError(`"${name}" is longer than ${size} bytes.`);
          const slice = chunk.subarray(taken, taken + buffer.length - filled);
          buffer.set(slice, filled);
          filled += slice.length;
          taken += slice.length;
          if (filled === buffer.length) await send();
        }
      }
      if (size === 0) await send();
      if (piece !== undefined) throw new RangeError(`"${name}" is shorter than ${size} bytes.`);
    },

    async *read(name, size) {
      for (const piece of pieces(name, size)) {
        const found = await objects.get(piece.name, piece.stored);
        if (found === undefined) throw missingObject(piece.name);
        const bytes = codec.open(piece.name, found.bytes);
        if (bytes.length !== piece.length) throw damagedObject(piece.name, undefined);
        yield bytes;
      }
    },
  };
}

function pieceName(name: string, index: number): string {
  return index === 0 ? name : `${name}.${String(index).padStart(6, "0")}`;
}

function missingObject(name: string): StoreError {
  return new StoreError("Damaged", { detail: `The object "${name}" of the backup is missing.` });
}
