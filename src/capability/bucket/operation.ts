// What every operation of the protocol gets and returns.
import type { Engine, Source } from "../../engine/engine.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import type { Fields } from "../../model/shape.ts";

export interface BucketCapabilityOptions {
  readonly engine: Engine;
  /** The only bucket that requests reach. */
  readonly bucket: string;
  /** Logs errors that are not the caller's. Default: they are not logged. */
  readonly log?: ((line: string) => void) | undefined;
}

export type Operation = (
  options: BucketCapabilityOptions,
  fields: Fields,
  /** The bytes after the metadata. Only put and uploadPart may have any. */
  source: Source,
) => Promise<HttpResponse>;
