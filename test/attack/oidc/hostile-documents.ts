// Hostile answers of an OpenID provider: endless, huge, slow, nested, compressed and malformed.
import type { ServerResponse } from "node:http";
import { createGzip, gzipSync } from "node:zlib";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { configuration, type HostileProvider, type Reply } from "./scene.ts";

const MiB = 1024 * 1024;

/** Sends the head, then the piece for as long as the client reads. */
function endless(head: string, piece: string): Reply {
  return (response) => {
    const chunk = piece.repeat(Math.ceil(65_536 / piece.length));
    const send = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", send);
    response.write(head);
    send();
  };
}

/** Sends a character of the text at a time, without an end. */
function slowly(text: string): Reply {
  return (response) => {
    let sent = 0;
    const timer = setInterval(() => {
      response.write(text[sent++ % text.length]!);
    }, 300);
    response.on("close", () => clearInterval(timer));
  };
}

/** Endless zeros that arrive compressed. */
function bomb(response: ServerResponse): void {
  response.writeHead(200, { "content-encoding": "gzip" });
  const gzip = createGzip();
  gzip.pipe(response);
  const zeros = Buffer.alloc(MiB);
  const send = () => {
    while (!response.destroyed && gzip.write(zeros));
  };
  gzip.on("drain", send);
  gzip.on("error", () => {});
  send();
}

function withHeaders(
  status: number,
  headers: Record<string, string | string[]>,
  body: string | Buffer = "{}",
) {
  return (response: ServerResponse) => void response.writeHead(status, headers).end(body);
}

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** Replies that are wrong whatever they answer. */
export const documents: Readonly<Record<string, Reply>> = {
  endless: endless('{"a":"', "x"),
  "endless and nested": endless("", '{"a":['),
  slow: slowly('{"a":"x'),
  silent: () => {},
  broken: (response) => {
    response.writeHead(200, { "content-length": "1000" }).write("{");
    setImmediate(() => response.destroy());
  },
  "a compressed bomb": bomb,
  "compressed twice": withHeaders(200, { "content-encoding": "gzip, gzip" }, gzipSync(gzipSync("{}"))),
  "wrongly compressed": withHeaders(200, { "content-encoding": "gzip" }, "{}"),
  "with a redirect": withHeaders(302, { location: "http://169.254.169.254/latest/meta-data" }),
  "with endless headers": (response) => {
    const send = () => {
      while (!response.destroyed && response.socket?.write(`x-a: ${"a".repeat(1000)}\r\n`));
    };
    response.socket?.on("drain", send).write("HTTP/1.1 200 OK\r\n");
    send();
  },
  nested: deep(400_000),
  "no JSON": "<html>",
  empty: "",
  null: "null",
  "a list": "[{}]",
  "an error": withHeaders(500, {}, "x".repeat(MiB)),
  "of no content": withHeaders(204, {}, ""),
};

/** Configurations with hostile members. */
export function configurations(issuer: string): Readonly<Record<string, string>> {
  const good = configuration(issuer);
  const withMembers = (members: object) => JSON.stringify({ ...good, ...members });
  const withText = (name: string, text: string) =>
    JSON.stringify({ ...good, [name]: "PLACE" }).replace('"PLACE"', () => text);
  const endpoints = ["authorization_endpoint", "jwks_uri", "token_endpoint", "userinfo_endpoint"];
  const urls = [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "//evil.example",
    "http://10.0.0.1/",
    "\r\nX: y",
  ];
  return {
    "a nested issuer": withText("issuer", deep(400_000)),
    "an issuer of 900 KB": withMembers({ issuer: "\0".repeat(150_000) }),
    "nested methods": withText("token_endpoint_auth_methods_supported", deep(400_000)),
    "methods without a text": withMembers({ token_endpoint_auth_methods_supported: [{ toString: 1 }] }),
    ...Object.fromEntries(
      endpoints.flatMap((name) => [
        ...[...urls, `${issuer}/${"x".repeat(900_000)}`, { href: issuer }, 7].map((url, index) => [
          `${name} ${index}`,
          withMembers({ [name]: url }),
        ]),
        [`nested ${name}`, withText(name, deep(400_000))],
      ]),
    ),
  };
}

export async function keySets({ publicKey }: HostileProvider): Promise<Readonly<Record<string, string>>> {
  const { publicKey: rsa } = await generateKeyPair("RS256", { modulusLength: 2048 });
  const { e, kty } = await exportJWK(rsa);
  const large = (bytes: number): JWK =>
    ({ kty, e, kid: "one", n: Buffer.alloc(bytes, 255).toString("base64url") }) as JWK;
  const set = (keys: readonly unknown[]) => JSON.stringify({ keys });
  return {
    "no keys": set([]),
    "5,000 keys with one id": set(Array(5000).fill(publicKey)),
    "keys that are not objects": set([null, 7, [], "x"]),
    "keys as text": '{"keys":"x"}',
    "nested keys": `{"keys":[{"kty":"EC","x":${deep(200_000)}}]}`,
    "a nested set": `{"keys":${deep(400_000)}}`,
    "a point that is not on the curve": set([{ ...publicKey, x: publicKey.y, y: publicKey.x }]),
    "a point of text": set([{ ...publicKey, x: "!", y: "!" }]),
    "a point of 300 KB": set([{ ...publicKey, x: "A".repeat(300_000) }]),
    "an unknown curve": set([{ ...publicKey, crv: "P-1" }]),
    "a shared key": set([{ kty: "oct", k: "AAAA", kid: "one" }]),
    "a private key": set([{ ...publicKey, d: publicKey.x }]),
    "a modulus of 16,384 bits": set([large(2048)]),
    "a modulus of 4,000,000 bits": set([large(500_000)]),
    "an algorithm of another key": set([{ ...publicKey, alg: "RS256" }]),
    "a prototype": `{"__proto__":{"keys":[{}]},"keys":[{"__proto__":{"kty":"EC"}}]}`,
  };
}

export const tokenResponses: Readonly<Record<string, string>> = {
  "a token of 900 KB": JSON.stringify({ id_token: "x".repeat(900_000) }),
  "a token of dots": JSON.stringify({ id_token: ".".repeat(900_000) }),
  "a nested token": `{"id_token":${deep(400_000)}}`,
  "a token with a nested payload": JSON.stringify({
    id_token: `eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.${Buffer.from(deep(5000)).toString("base64url")}.AAAA`,
  }),
  "an error of 900 KB": JSON.stringify({ error: "\u202e".repeat(300_000) }),
  "a nested error": `{"error":${deep(400_000)}}`,
};

/** User info with hostile claims, and the status of a sign-in with it. */
export const userInfos: Readonly<Record<string, readonly [object, 200 | 401]>> = {
  "100,000 groups": [{ groups: Array.from({ length: 100_000 }, (_, index) => `g${index}`) }, 401],
  "100,000 groups and the right one": [{ groups: [...Array(100_000).fill("g"), "admins"] }, 200],
  "groups that are lists": [{ groups: Array(50_000).fill(["admins"]) }, 401],
  "groups with a text of 900 KB": [{ groups: "admins,".repeat(120_000) }, 401],
  "a name of 900 KB": [{ groups: ["admins"], preferred_username: "\u202e".repeat(300_000) }, 200],
  "a name of line breaks": [{ groups: ["admins"], preferred_username: `a${"\r\n".repeat(100_000)}b` }, 200],
  "200,000 claims": [
    { groups: ["admins"], ...Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`c${i}`, i])) },
    200,
  ],
};
