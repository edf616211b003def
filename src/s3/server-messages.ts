// What the supervisor and the processes of the S3 API say to each other.
import type { TlsPair } from "../http/tls.ts";
import type { FromObserver, Observing, ToObserver } from "../metrics/observer.ts";
import type { Location } from "../model/location.ts";
import type { Uses } from "./key-uses.ts";

export interface OpenS3 {
  readonly kind: "open";
  readonly location: Location;
  readonly domains: readonly string[];
  /** In base64. */
  readonly secretKey: string;
  /** What connections are secured with, if they are. */
  readonly tls: TlsPair | undefined;
  /** Proxies whose word on the sender of a request is taken. */
  readonly trusted: readonly string[];
  readonly observing: Observing;
}

export type ToS3Process =
  | ToObserver
  | OpenS3
  | { readonly kind: "tls"; readonly pair: TlsPair }
  /** Comes with a connection, to be served if the machine's clock has not passed the deadline. */
  | { readonly kind: "connection"; readonly id: number; readonly deadline: number }
  | { readonly kind: "close" };

export type FromS3Process =
  | FromObserver
  /** It is up and waits to be told what to open. */
  | { readonly kind: "warm" }
  | { readonly kind: "ready" }
  | { readonly kind: "connection"; readonly id: number; readonly isTaken: boolean }
  /** Which keys have signed requests, and when. */
  | { readonly kind: "used"; readonly uses: Uses }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "log"; readonly line: string };
