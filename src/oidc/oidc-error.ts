// Errors of OpenID Connect, with a message for the user or client.

/**
 * `provider`: the provider cannot be reached or is misconfigured, so that a retry may succeed.
 * `token`: the provider or this server refuses the code or token.
 */
export type OidcErrorReason = "provider" | "token";

export class OidcError extends Error {
  override readonly name = "OidcError";
  readonly reason: OidcErrorReason;

  constructor(reason: OidcErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
