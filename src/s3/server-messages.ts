// What the supervisor and the processes of the S3 API say to each other.

export interface OpenS3 {
  readonly kind: "open";
  readonly location: string;
  readonly host: string;
  readonly port: number;
  readonly domains: readonly string[];
  /** In base64. */
  readonly secretKey: string;
}

export type ToS3Process = OpenS3 | { readonly kind: "close" };

export type FromS3Process =
  /** It is up and waits to be told what to open. */
  | { readonly kind: "warm" }
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | undefined }
  | { readonly kind: "log"; readonly line: string };
