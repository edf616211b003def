// Tests session policies: they narrow the credentials of a role, and never add a right.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { packPolicy } from "../../../src/access/temporary/session-policy.ts";
import { signToken, startFakeProvider } from "../../oidc/fake-provider.ts";
import type { Key } from "../scene.ts";
import { arn, credentialsIn, element, type StsScene, stsScene } from "./scene.ts";

type Fields = Readonly<Record<string, unknown>>;

const allow = (Action: unknown, Resource: unknown, more: Fields = {}) => ({
  ...{ Effect: "Allow", Action, Resource },
  ...more,
});
const deny = (Action: unknown, Resource: unknown, more: Fields = {}) => ({
  ...{ Effect: "Deny", Action, Resource },
  ...more,
});
const toPolicy = (...Statement: Fields[]) => JSON.stringify({ Version: "2012-10-17", Statement });
const inPhotos = (path = "") => `arn:aws:s3:::photos${path}`;

interface Scene extends StsScene {
  assume(policy: string | undefined, role?: string): ReturnType<StsScene["call"]>;
  /** Returns the credentials of a session with the statements. */
  session(...statements: Fields[]): Promise<Key>;
  status(key: Key, method: string, path: string, more?: Fields): Promise<number>;
}

async function setUp(
  t: TestContext,
  grants: readonly string[] = ["photos:admin", "*:admin"],
): Promise<Scene> {
  const scene = await stsScene(t);
  await scene.newRole("wide", grants, { accounts: ["default"] });
  const assume: Scene["assume"] = (policy, role = "wide") =>
    scene.call(
      {
        ...{ Action: "AssumeRole", RoleArn: arn(role), RoleSessionName: "session" },
        ...(policy === undefined ? {} : { Policy: policy }),
      },
      scene.key,
    );
  return {
    ...scene,
    assume,
    async session(...statements) {
      const answer = await assume(toPolicy(...statements));
      assert.equal(answer.status, 200, answer.text);
      return credentialsIn(answer);
    },
    async status(key, method, path, more = {}) {
      const body = method === "PUT" ? { body: Buffer.from("new") } : {};
      return (await scene.ask({ method, path, ...body, ...more }, { key })).status;
    },
  };
}

test("a session policy narrows the role to its actions and resources", async (t) => {
  const { session, status } = await setUp(t);
  const key = await session(
    allow(["s3:GetObject", "s3:PutObject"], inPhotos("/2026/*")),
    allow("s3:ListBucket", inPhotos(), { Condition: { StringLike: { "s3:prefix": "2026/*" } } }),
  );
  assert.equal(await status(key, "GET", "/photos/2026/a"), 200);
  assert.equal(await status(key, "PUT", "/photos/2026/b"), 200);
  assert.equal(await status(key, "GET", "/photos/2025/a"), 403);
  assert.equal(await status(key, "PUT", "/photos/2025/b"), 403);
  assert.equal(await status(key, "DELETE", "/photos/2026/a"), 403);
  const list = (prefix: string) => status(key, "GET", "/photos", { query: [["prefix", prefix]] });
  assert.equal(await list("2026/"), 200);
  assert.equal(await list("2025/"), 403);
  assert.equal(await status(key, "GET", "/photos"), 403, "a listing without a prefix");
  assert.equal(await status(key, "GET", "/"), 403, "listing buckets needs s3:ListAllMyBuckets");
  assert.equal(await status(key, "PUT", "/new-bucket"), 403);
});

test("a session policy adds no right to those of the role", async (t) => {
  const { session, status, ask, key: owner } = await setUp(t, ["photos/2026/*:read,append"]);
  await ask({ method: "PUT", path: "/other" }, { key: owner });
  const key = await session(allow("*", "*"));
  assert.equal(await status(key, "GET", "/photos/2026/a"), 200);
  assert.equal(await status(key, "PUT", "/photos/2026/new"), 200);
  assert.equal(await status(key, "PUT", "/photos/2026/a"), 403, "append does not overwrite");
  assert.equal(await status(key, "GET", "/photos/2025/a"), 403);
  assert.equal(await status(key, "GET", "/other"), 403);
  assert.equal(await status(key, "PUT", "/new-bucket"), 403);
});

test("an explicit Deny wins over every Allow, and what nothing allows is denied", async (t) => {
  const { session, status } = await setUp(t);
  const key = await session(allow("s3:*", "*"), deny("s3:Delete*", "*"), deny("*", inPhotos("/2025/*")));
  assert.equal(await status(key, "GET", "/photos/2026/a"), 200);
  assert.equal(await status(key, "DELETE", "/photos/2026/a"), 403);
  assert.equal(await status(key, "GET", "/photos/2025/a"), 403);
  const nothing = await session(deny("s3:DeleteBucket", "*"));
  assert.equal(await status(nothing, "GET", "/photos/2026/a"), 403);
});

test("listing and creating buckets need their actions in the policy", async (t) => {
  const { session, status } = await setUp(t);
  const key = await session(
    allow("s3:ListAllMyBuckets", "*"),
    allow("s3:CreateBucket", "arn:aws:s3:::team-*"),
  );
  assert.equal(await status(key, "GET", "/"), 200);
  assert.equal(await status(key, "PUT", "/team-one", { body: Buffer.alloc(0) }), 200);
  assert.equal(await status(key, "PUT", "/other", { body: Buffer.alloc(0) }), 403);
});

test("copies, batches and bypasses are decided by the session policy for each object", async (t) => {
  const { session, status, ask, engine } = await setUp(t);
  const key = await session(allow(["s3:GetObject", "s3:PutObject", "s3:DeleteObject*"], inPhotos("/2026/*")));
  const copy = (from: string, to: string) =>
    status(key, "PUT", to, { headers: { "x-amz-copy-source": from }, body: Buffer.alloc(0) });
  assert.equal(await copy("/photos/2026/a", "/photos/2026/copy"), 200);
  assert.equal(await copy("/photos/2025/a", "/photos/2026/copy"), 403);
  assert.equal(await copy("/photos/2026/a", "/photos/2025/copy"), 403);
  const body = Buffer.from(
    "<Delete><Object><Key>2026/copy</Key></Object><Object><Key>2025/a</Key></Object></Delete>",
  );
  const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
  const query = [["delete", ""]] as const;
  const { text } = await ask({ method: "POST", path: "/photos", query, headers, body }, { key });
  assert.match(text, /<Deleted><Key>2026\/copy<\/Key><\/Deleted>/);
  assert.match(text, /<Error><Key>2025\/a<\/Key><Code>AccessDenied<\/Code>/);
  assert.equal((await engine.head("photos", "2026/copy")) === undefined, true);
  assert.notEqual(await engine.head("photos", "2025/a"), undefined);
  const bypass = { headers: { "x-amz-bypass-governance-retention": "true" } };
  const version = { query: [["versionId", "null"]] };
  assert.equal(await status(key, "DELETE", "/photos/2026/a", { ...version, ...bypass }), 403);
  assert.equal(await status(key, "DELETE", "/photos/2026/a", version), 204);
});

test("conditions of a session policy see tags, addresses and headers of the request", async (t) => {
  const { session, status, engine } = await setUp(t);
  await engine.setTags("photos", "2026/a", new Map([["class", "open"]]));
  const withTag = { StringEquals: { "s3:ExistingObjectTag/class": "open" } };
  const tagged = await session(allow("s3:GetObject", "*", { Condition: withTag }));
  assert.equal(await status(tagged, "GET", "/photos/2026/a"), 200);
  assert.equal(await status(tagged, "GET", "/photos/2025/a"), 403);
  const fromHome = { IpAddress: { "aws:SourceIp": "192.0.2.0/24" } };
  const home = await session(allow("s3:GetObject", "*", { Condition: fromHome }));
  assert.equal(await status(home, "GET", "/photos/2026/a", { address: "192.0.2.7" }), 200);
  assert.equal(await status(home, "GET", "/photos/2026/a", { address: "198.51.100.7" }), 403);
  const newTag = { StringEquals: { "s3:RequestObjectTag/class": "open" } };
  const tagger = await session(
    allow("s3:PutObject", "*"),
    allow("s3:PutObjectTagging", "*", { Condition: newTag }),
  );
  const put = (tagging: string) =>
    status(tagger, "PUT", "/photos/2026/new", { headers: { "x-amz-tagging": tagging } });
  assert.equal(await put("class=open"), 200);
  assert.equal(await put("class=secret"), 403);
  const tags = (value: string) => ({
    query: [["tagging", ""]],
    body: Buffer.from(
      `<Tagging><TagSet><Tag><Key>class</Key><Value>${value}</Value></Tag></TagSet></Tagging>`,
    ),
  });
  assert.equal(await status(tagger, "PUT", "/photos/2026/a", tags("open")), 200);
  assert.equal(await status(tagger, "PUT", "/photos/2026/a", tags("secret")), 403);
});

test("a session policy that names a bucket ends with the bucket", async (t) => {
  const { session, status, engine } = await setUp(t);
  await engine.createBucket("mine");
  const named = await session(allow("s3:*", ["arn:aws:s3:::mine", "arn:aws:s3:::mine/*"]));
  const all = await session(allow("s3:*", "arn:aws:s3:::*"));
  assert.equal(await status(named, "GET", "/mine"), 200);
  await engine.deleteBucket("mine");
  await new Promise((resolve) => setTimeout(resolve, 2));
  await engine.createBucket("mine");
  assert.equal(await status(named, "GET", "/mine"), 403);
  assert.equal(await status(all, "GET", "/mine"), 200);
});

test("what a session policy says of other services has no effect", async (t) => {
  const { session, status } = await setUp(t);
  const kmsKey = "arn:aws:kms:us-east-1:123456789012:key/abc";
  const reader = await session(
    allow(["kms:*", "s3express:CreateSession"], "*"),
    allow("kms:Decrypt", kmsKey),
    deny(["kms:GenerateDataKey", "sts:AssumeRole"], "*"),
    deny("s3:GetObject", kmsKey),
    allow(["s3:GetObject", "kms:Decrypt"], [inPhotos("/2026/*"), kmsKey]),
  );
  assert.equal(await status(reader, "GET", "/photos/2026/a"), 200);
  assert.equal(await status(reader, "GET", "/photos/2025/a"), 403);
  assert.equal(await status(reader, "PUT", "/photos/2026/a"), 403);
  const onlyOthers = await session(allow("kms:*", "*"), allow("s3:*", kmsKey));
  assert.equal(await status(onlyOthers, "GET", "/photos/2026/a"), 403, "nothing of S3 is allowed");
  const allButOthers = await session({ Effect: "Allow", NotAction: "kms:*", NotResource: kmsKey });
  assert.equal(await status(allButOthers, "GET", "/photos/2025/a"), 200, "all of S3 is allowed");
  const denied = await session(allow("s3:*", "*"), { Effect: "Deny", NotAction: "kms:*", Resource: "*" });
  assert.equal(await status(denied, "GET", "/photos/2026/a"), 403, "all of S3 is denied");
});

test("a session policy with a part that is not understood is refused with MalformedPolicyDocument", async (t) => {
  const { assume } = await setUp(t);
  const get = allow("s3:GetObject", "*");
  const wrong: (string | Fields)[] = [
    ...["{", "[]", "{}", '{"Statement":[]}', '{"Statement":[],"Statement":[]}', '"text"', "null"],
    ...[
      { ...get, Effect: "allow" },
      { ...get, Principal: "*" },
      { ...get, NotPrincipal: "*" },
    ],
    ...[{ ...get, Condition: { StringEquals: { "aws:RequestedRegion": "eu" } } }],
    ...[{ ...get, Condition: { StringMatches: { "s3:prefix": "a" } } }],
    ...[
      { ...get, Resource: "photos/*" },
      { ...get, Resource: "arn:aws:s3:::" },
      { ...get, Resource: "arn:aws:s3:us-east-1:1:accesspoint/photos" },
      { ...get, Resource: [] },
    ],
    ...[{ ...get, Resource: "arn:aws:s3:::photos/${aws:username}/*" }],
    ...[
      { ...get, Action: "GetObject" },
      { ...get, Action: "k*:Decrypt" },
      { ...get, Action: "s3:Foo" },
    ],
    ...[
      { ...get, Resource: undefined },
      { ...get, Action: undefined },
      { ...get, More: 1 },
    ],
  ];
  for (const one of wrong) {
    const policy = typeof one === "string" ? one : toPolicy(one);
    const { status, code, text } = await assume(policy);
    assert.deepEqual([status, code], [400, "MalformedPolicyDocument"], `${policy} ${text}`);
    assert.match(text, /Syntax errors in policy\. ./);
  }
});

test("the size of a session policy is limited as in AWS, and its packed size is answered", async (t) => {
  const { assume, ask } = await setUp(t);
  const padded = (length: number) => {
    const text = toPolicy(allow("s3:GetObject", "*"));
    return text + " ".repeat(length - text.length);
  };
  assert.equal(element((await assume(undefined)).text, "PackedPolicySize"), "0");
  const longest = await assume(padded(2048));
  assert.match(element(longest.text, "PackedPolicySize")!, /^[1-9]$/, "white space is not packed");
  assert.equal((await assume(padded(2049))).code, "ValidationError");
  assert.equal((await assume("")).code, "ValidationError");
  const random = (characters: string, count: number) =>
    Array.from({ length: count }, (_, i) => characters[(i * 7919 + i * i * 31) % characters.length]).join("");
  const letters = random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 1900);
  const ascii = await assume(toPolicy(allow("s3:GetObject", inPhotos(`/${letters}`))));
  assert.equal(ascii.status, 200, ascii.text);
  const key = credentialsIn(ascii);
  assert.equal((await ask({ method: "GET", path: "/photos/2026/a" }, { key })).status, 403);
  const wide = String.fromCharCode(
    ...Array.from({ length: 1900 }, () => 0x4e00 + Math.floor(Math.random() * 0x5000)),
  );
  assert.equal(
    (await assume(toPolicy(allow("s3:GetObject", inPhotos(`/${wide}`))))).code,
    "PackedPolicyTooLarge",
  );
});

test("a session token with another policy is refused", async (t) => {
  const { session, ask } = await setUp(t);
  const key = await session(allow("s3:GetObject", inPhotos("/2026/*")));
  const [version, issuer, content, mac] = key.sessionToken!.split(".");
  const fields = JSON.parse(Buffer.from(content!, "base64url").toString());
  const forged = [
    { ...fields, policy: packPolicy(toPolicy(allow("*", "*"))).packed },
    { ...fields, policy: undefined },
    { ...fields, policy: "AAAA" },
  ];
  for (const one of forged) {
    const changed = Buffer.from(JSON.stringify(one)).toString("base64url");
    const given = { ...key, sessionToken: [version, issuer, changed, mac].join(".") };
    assert.equal((await ask({ method: "GET", path: "/photos/2025/a" }, { key: given })).code, "InvalidToken");
  }
});

test("a session policy narrows a session of a web identity, and is refused where it has no effect", async (t) => {
  const scene = await setUp(t);
  const { issuer, ...provider } = await startFakeProvider(t);
  const providers = [{ issuer, audiences: ["console"], claims: {} }];
  await scene.newRole("deploy", ["photos:read"], { providers });
  const call = async (more: Readonly<Record<string, string>>) =>
    scene.call({
      ...{ Action: "AssumeRoleWithWebIdentity", RoleArn: arn("deploy"), RoleSessionName: "job" },
      WebIdentityToken: await signToken({ issuer, ...provider }),
      ...more,
    });
  const answer = await call({ Policy: toPolicy(allow("s3:GetObject", inPhotos("/2026/*"))) });
  assert.equal(answer.status, 200, answer.text);
  const key = credentialsIn(answer);
  assert.equal(await scene.status(key, "GET", "/photos/2026/a"), 200);
  assert.equal(await scene.status(key, "GET", "/photos/2025/a"), 403);
  assert.equal((await call({ Policy: "{" })).code, "MalformedPolicyDocument");
  const arns = await call({ "PolicyArns.member.1.arn": "arn:aws:iam::aws:policy/ReadOnlyAccess" });
  assert.equal(arns.code, "ValidationError");
  assert.match(arns.text, /PolicyArns.*limit the session with Policy/s);
  const token = await scene.call({ Action: "GetSessionToken", Policy: "{}" }, scene.key);
  assert.equal(token.code, "ValidationError");
});
