// What every operation of the protocol gets and returns.
import type { Engine, Source } from "../../engine/engine.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import type { Exchange } from "../../metrics/exchange.ts";
import type { Reason } from "../../model/errors.ts";
import type { Fields } from "../../model/shape.ts";

export interface BucketCapabilityOptions {
  readonly engine: Engine;
  /** The only bucket that requests reach. */
  readonly bucket: string;
  /** Default: as the runtime asks, and with the delimiter, which its other platforms return. */
  readonly listing?: ListingForm | undefined;
  /** Logs errors that are not the caller's. Default: they are not logged. */
  readonly log?: ((line: string) => void) | undefined;
  /** Called at the end of each request, for metrics and the request log. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** What a list returns, by the compatibility date and flags of the script. */
export interface ListingForm {
  /** Whether delimited prefixes end with the delimiter. */
  readonly keepDelimiter: boolean;
  /** If false, a list returns all metadata. */
  readonly honorInclude: boolean;
}

export interface BucketResponse extends HttpResponse {
  /** Why the operation failed. */
  readonly reason?: Reason | undefined;
}

export type Operation = (
  options: BucketCapabilityOptions,
  fields: Fields,
  /** The bytes after the metadata. Only put and uploadPart may have any. */
  source: Source,
) => Promise<BucketResponse>;
