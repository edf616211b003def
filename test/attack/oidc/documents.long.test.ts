// A provider that the attacker has taken over answers with endless, huge, slow and malformed
// documents. The console refuses them with a message, serves its other clients and stays small.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { mainThreadMilliseconds, treeMemory } from "../../support/process-tree.ts";
import { configurations, documents, keySets, tokenResponses, userInfos } from "./hostile-documents.ts";
import {
  type Browser,
  goodClaims,
  type HostileProvider,
  openBrowser,
  openOidcConsole,
  type Reply,
  startHostileProvider,
} from "./scene.ts";

const MiB = 1024 * 1024;
/** The event loop may work for so long on one answer of a provider. */
const maxWorkMilliseconds = 1000;
/** Heaps of the server's processes grow to their limits, by more than what one provider may send. */
const maxGrowth = 320 * MiB;
const maxAnswerLength = 2000;
/** Replies that end by the timeout of the console, so they are tried at the same time. */
const slowReplies = ["slow", "silent"];

interface Scene {
  readonly provider: HostileProvider;
  /** A provider that nobody has asked: documents are cached, and so are failures. */
  freshName(): string;
  /** A browser at an address of its own, because each address may start few sign-ins a minute. */
  browser(): Browser;
  /** Runs an attack, and asserts that the event loop of the console's process was not blocked. */
  bounded<T>(what: string, attack: () => Promise<T>): Promise<T>;
}

test("a hostile provider neither blocks the console nor makes it fail", async (t) => {
  const names = Array.from({ length: 200 }, (_, index) => `p${index}`);
  const provider = await startHostileProvider(t, names);
  const { server, port } = await openOidcConsole(t, provider, names);
  const before = treeMemory(server.pid);
  let used = 0;
  let browsers = 0;
  let most = 0;
  const scene: Scene = {
    provider,
    freshName: () => names[used++]!,
    browser: () => openBrowser(port, `127.0.0.${2 + (browsers++ % 200)}`),
    async bounded(what, attack) {
      const began = mainThreadMilliseconds(server.pid);
      const outcome = await attack();
      const worked = mainThreadMilliseconds(server.pid) - began;
      most = Math.max(most, worked);
      assert.ok(worked < maxWorkMilliseconds, `${what}: the event loop worked for ${Math.round(worked)} ms`);
      assert.equal((await openBrowser(port).send("GET", "/healthz")).status, 200, what);
      return outcome;
    },
  };
  await attackConfigurations(t, scene);
  await attackKeys(t, scene);
  await attackTokens(t, scene);
  assert.doesNotMatch(server.log(), /The console failed/);
  const longest = Math.max(
    ...server
      .log()
      .split("\n")
      .map((line) => line.length),
  );
  assert.ok(longest < maxAnswerLength, `a line of ${longest} characters in the log`);
  const growth = treeMemory(server.pid) - before;
  assert.ok(growth < maxGrowth, `memory has grown by ${Math.round(growth / MiB)} MiB`);
  const grown = `${Math.round(growth / MiB)} MiB more`;
  t.diagnostic(
    `${used} providers, ${grown}, at most ${Math.round(most)} ms of the event loop for one answer`,
  );
});

async function attackConfigurations(t: TestContext, scene: Scene): Promise<void> {
  const { provider, freshName, browser } = scene;
  const start = async (name: string, what: string, reply: Reply) => {
    provider.replies.set(`/${name}/.well-known/openid-configuration`, reply);
    const { status, text } = await browser().send("POST", "/api/sign-in/start", { provider: name });
    assert.ok(text.length < maxAnswerLength, `${what}: an answer of ${text.length} characters`);
    return status;
  };
  await t.test("configurations that are endless, huge, slow or malformed are refused", async () => {
    await forEachReply(scene, async (what, reply) => {
      assert.equal(await start(freshName(), what, reply), 502, what);
    });
    for (const what of Object.keys(configurations(""))) {
      const name = freshName();
      const text = configurations(provider.issuer(name))[what]!;
      const status = await scene.bounded(what, () => start(name, what, text));
      // Methods without a meaning are ignored.
      assert.ok(status === 502 || (status === 200 && what.includes("methods")), `${what}: ${status}`);
    }
  });
}

/** Runs the attack with each reply; with slow ones at the same time. */
async function forEachReply(
  { bounded }: Scene,
  attack: (what: string, reply: Reply) => Promise<void>,
): Promise<void> {
  const isSlow = ([what]: readonly [string, Reply]) => slowReplies.includes(what);
  const slow = Object.entries(documents).filter(isSlow);
  for (const [what, reply] of Object.entries(documents).filter((one) => !isSlow(one)))
    await bounded(what, () => attack(what, reply));
  await bounded("slow replies", () => Promise.all(slow.map(([what, reply]) => attack(what, reply))));
}

/** Signs in at a provider whose token, unless replaced, is good; returns the status. */
async function signIn(
  { provider, browser }: Scene,
  name: string,
  path: string,
  reply: Reply,
): Promise<number> {
  const client = browser();
  const started = await client.start(name);
  const issuer = provider.issuer(name);
  const { groups, ...claims } = goodClaims(issuer, started.get("nonce")!);
  const token = await provider.sign(path === "me" ? claims : { ...claims, groups });
  provider.replies.set(`/${name}/token`, JSON.stringify({ id_token: token, access_token: "t" }));
  provider.replies.set(`/${name}/${path}`, reply);
  const { status, text } = await client.finish({ code: "c", state: started.get("state")!, issuer });
  assert.ok(text.length < maxAnswerLength, `${path}: an answer of ${text.length} characters`);
  const isSignedIn = (await client.send("GET", "/api/session")).status === 200;
  assert.equal(isSignedIn, status === 200);
  return status;
}

async function attackKeys(t: TestContext, scene: Scene): Promise<void> {
  await t.test("hostile key sets verify no token", async () => {
    const attack = async (what: string, reply: Reply) => {
      const status = await signIn(scene, scene.freshName(), "keys", reply);
      assert.ok(status === 502 || status === 401, `${what}: ${status}`);
    };
    await forEachReply(scene, attack);
    for (const [what, text] of Object.entries(await keySets(scene.provider)))
      await scene.bounded(what, () => attack(what, text));
  });
}

async function attackTokens(t: TestContext, scene: Scene): Promise<void> {
  await t.test("hostile answers of the token endpoint and of the user info open no session", async () => {
    for (const path of ["token", "me"]) {
      await forEachReply(scene, async (what, reply) => {
        const status = await signIn(scene, scene.freshName(), path, reply);
        assert.ok(status === 502 || status === 401, `${path} ${what}: ${status}`);
      });
    }
    const name = scene.freshName();
    for (const [what, text] of Object.entries(tokenResponses)) {
      const status = await scene.bounded(what, () => signIn(scene, name, "token", text));
      assert.ok(status === 502 || status === 401, `${what}: ${status}`);
    }
    for (const [what, [info, expected]] of Object.entries(userInfos)) {
      const reply = JSON.stringify({ sub: "anna", ...info });
      assert.equal(await scene.bounded(what, () => signIn(scene, name, "me", reply)), expected, what);
    }
  });
}
