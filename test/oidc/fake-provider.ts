// A provider on loopback whose configuration, keys and tokens a test chooses freely.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export interface FakeProvider {
  readonly issuer: string;
  /** Responses by path; a test may replace them. */
  readonly responses: Map<
    string,
    { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string }
  >;
  /** Paths in the order in which they were requested. */
  readonly requests: string[];
  readonly privateKey: CryptoKey;
  /** Replaces the signing key, as at a rotation. */
  rotate(kid: string): Promise<CryptoKey>;
}

export async function startFakeProvider(t: TestContext): Promise<FakeProvider> {
  const responses: FakeProvider["responses"] = new Map();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    const { status = 200, headers = {}, body } = responses.get(request.url!) ?? { status: 404, body: "{}" };
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const setKey = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const keys = [{ ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" }];
    responses.set("/keys", { body: JSON.stringify({ keys }) });
    return privateKey;
  };
  responses.set("/.well-known/openid-configuration", {
    body: JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }),
  });
  return { issuer, responses, requests, privateKey: await setKey("one"), rotate: setKey };
}

export interface TokenOptions {
  readonly claims?: JWTPayload;
  readonly kid?: string;
  readonly key?: CryptoKey;
  /** Seconds since the epoch. */
  readonly now?: number;
}

/** A token of the provider for the audience "console", valid for five minutes. */
export function signToken(provider: FakeProvider, options: TokenOptions = {}): Promise<string> {
  const {
    claims = {},
    kid = "one",
    key = provider.privateKey,
    now = Math.floor(Date.now() / 1000),
  } = options;
  const all = { iss: provider.issuer, aud: "console", sub: "anna", iat: now, exp: now + 300, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: "ES256", kid }).sign(key);
}
