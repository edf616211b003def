// Replaces src/index.ts in suites that run inside workerd: the same names, without the adapters.

export { StoreError } from "../../../../src/model/errors.ts";

interface FixedLength {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** The runtime's own class, since only its streams have a length that the runtime knows. */
export const FixedLengthStream = (
  globalThis as unknown as { FixedLengthStream: new (length: number) => FixedLength }
).FixedLengthStream;
