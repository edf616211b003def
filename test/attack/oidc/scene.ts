// A console whose users sign in at a provider that the attacker has taken over: the test chooses
// every document and token. Each client has cookies and an address like a browser.
import assert from "node:assert/strict";
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestOptions,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";
import type { StartedDocument } from "../../../src/console/wire-session.ts";
import { scriptScene } from "../../script/scene.ts";
import type { Server } from "../../script/server.ts";

/** A text, or a function that answers however it likes. */
export type Reply = string | ((response: ServerResponse) => void);

export interface HostileProvider {
  /** URL of the issuer with this name. All issuers are on one port. */
  issuer(name: string): string;
  /** Replies by path: `/company/token`. */
  readonly replies: Map<string, Reply>;
  /** Paths in the order in which they were requested. */
  readonly requests: string[];
  readonly publicKey: JWK;
  /** Signs with the published key, unless another is given. */
  sign(
    claims: JWTPayload,
    header?: Partial<JWTHeaderParameters>,
    key?: CryptoKey | Uint8Array,
  ): Promise<string>;
}

export async function startHostileProvider(
  t: Pick<TestContext, "after">,
  names: readonly string[],
): Promise<HostileProvider> {
  const replies = new Map<string, Reply>();
  const requests: string[] = [];
  const server = createServer((message, response) => {
    requests.push(message.url!);
    // A client that gives up ends the connection in the middle of an endless reply.
    response.on("error", () => {});
    const reply = replies.get(message.url!) ?? "{}";
    if (typeof reply === "string") response.end(reply);
    else reply(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = (name: string) => `${origin}/${name}`;
  const { privateKey, publicKey: published } = await generateKeyPair("ES256");
  const publicKey: JWK = { ...(await exportJWK(published)), kid: "one", alg: "ES256", use: "sig" };
  for (const name of names) {
    replies.set(`/${name}/.well-known/openid-configuration`, JSON.stringify(configuration(issuer(name))));
    replies.set(`/${name}/keys`, JSON.stringify({ keys: [publicKey] }));
  }
  return {
    ...{ issuer, replies, requests, publicKey },
    sign: (claims, header = {}, key = privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "one", ...header }).sign(key),
  };
}

/** The configuration that an honest provider publishes. */
export function configuration(issuer: string): Readonly<Record<string, unknown>> {
  return {
    ...{ issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/authorize` },
    ...{ token_endpoint: `${issuer}/token`, userinfo_endpoint: `${issuer}/me` },
    authorization_response_iss_parameter_supported: true,
  };
}

/** Claims of a token that the console accepts for the administrator anna. */
export function goodClaims(issuer: string, nonce: string): JWTPayload & { readonly exp: number } {
  const now = Math.floor(Date.now() / 1000);
  return {
    ...{ iss: issuer, aud: "console", sub: "anna", iat: now, exp: now + 300 },
    ...{ nonce, groups: ["admins"] },
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A browser: keeps the cookies of one console. */
export interface Browser {
  readonly cookies: Map<string, string>;
  send(
    method: string,
    path: string,
    json?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered>;
  /** Starts a sign-in and returns the parameters that go to the provider. */
  start(provider: string): Promise<URLSearchParams>;
  finish(fields: {
    readonly code: string;
    readonly state: string;
    readonly issuer: string;
  }): Promise<Answered>;
}

export function openBrowser(port: number, localAddress = "127.0.0.1"): Browser {
  const cookies = new Map<string, string>();
  const send: Browser["send"] = async (method, path, json, more = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { "x-store-console": "1", cookie, ...more };
    const answered = await exchangeJson({ port, localAddress, method, path, headers }, json);
    for (const line of answered.headers["set-cookie"] ?? []) {
      assert.match(line, /^__Host-[^;]*; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return answered;
  };
  return {
    cookies,
    send,
    async start(provider) {
      const { status, text } = await send("POST", "/api/sign-in/start", { provider });
      assert.equal(status, 200, text);
      return new URL((JSON.parse(text) as StartedDocument).url).searchParams;
    },
    finish: (fields) => send("POST", "/api/sign-in/finish", fields),
  };
}

function exchangeJson(options: RequestOptions, json: unknown): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", agent: false, ...options }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(json === undefined ? undefined : JSON.stringify(json));
  });
}

export interface OidcConsole {
  readonly server: Server;
  readonly port: number;
  /** Starts the server again on the same data, with another role of "admins" or other providers. */
  restart(role: string, names?: readonly string[]): Promise<OidcConsole>;
}

/** Starts `store serve` with these issuers as providers, whose group "admins" may do everything. */
export async function openOidcConsole(
  t: Pick<TestContext, "after">,
  { issuer }: Pick<HostileProvider, "issuer">,
  given: readonly string[],
): Promise<OidcConsole> {
  const scene = await scriptScene(t, "export default { fetch: () => new Response('good') };");
  async function start(role: string, names: readonly string[]): Promise<OidcConsole> {
    const tables = names.map(
      (name) =>
        `[[providers]]\nname = "${name}"\nissuer = "${issuer(name)}"\nclient_id = "console"\nroles = { admins = "${role}" }`,
    );
    const file = await scene.write("providers.toml", tables.join("\n"));
    const server = await scene.start("serve", { args: ["--console-oidc", file] });
    return {
      server,
      port: Number(new URL(server.announced.console.url).port),
      async restart(next, others = names) {
        await server.stop();
        return start(next, others);
      },
    };
  }
  return start("administrator", given);
}
