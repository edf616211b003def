// The bodies of the proofs, for tests.
export {
  bytesOf,
  digestOf,
  KiB,
  MiB,
  type StreamOptions,
  streamOf,
  type Value,
} from "../../src/prove/bodies.ts";
