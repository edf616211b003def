// Which URLs a script may fetch, and which addresses its requests may go to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTargetUrl } from "../../../../src/http/outbound/target-url.ts";
import type { Outbound } from "../../../../src/script/bindings.ts";
import { createDestinationFinder } from "../../../../src/script/sandbox/outbound/destination.ts";

const publicAddress = "93.184.216.34";
const names: Readonly<Record<string, readonly string[]>> = {
  "example.com": [publicAddress],
  "api.example.com": [publicAddress],
  "a.b.example.com": [publicAddress],
  "internal.example.com": ["10.0.0.5"],
  "metadata.google.internal": ["169.254.169.254"],
  "mixed.example.com": ["10.0.0.5", publicAddress, "::1", "2606:4700::1"],
  "self.example.com": ["8.8.4.4"],
};

/** Returns the addresses, or the status of the refusal. */
async function find(outbound: Outbound, target: string): Promise<readonly string[] | number> {
  const url = parseTargetUrl(target);
  assert.ok(url, target);
  const found = await createDestinationFinder({
    outbound,
    lookup: async (name) => names[name] ?? [],
    ownAddresses: () => ["127.0.0.1", "8.8.4.4"],
  })(url);
  return "addresses" in found ? found.addresses : found.status;
}

test('with outbound = "none", no host can be fetched', async () => {
  assert.equal(await find("none", "https://example.com/"), 403);
  assert.equal(await find("none", `http://${publicAddress}/`), 403);
  assert.equal(await find([], "https://example.com/"), 403);
});

test('with outbound = "public", names and addresses of the public Internet can be fetched', async () => {
  assert.deepEqual(await find("public", "https://example.com/"), [publicAddress]);
  assert.deepEqual(await find("public", `http://${publicAddress}:8080/`), [publicAddress]);
  assert.deepEqual(await find("public", "http://[2606:4700::1]/"), ["2606:4700::1"]);
});

test('with outbound = "public", addresses of this machine, its network and its cloud are refused', async () => {
  const hosts = [
    ...["127.0.0.1", "localhost", "app.localhost", "localhost.", "10.0.0.5", "169.254.169.254", "0x7f.1"],
    ...["[::1]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "[64:ff9b::7f00:1]", "0", "017700000001"],
    ...["8.8.4.4", "[::ffff:8.8.4.4]"],
  ];
  for (const host of hosts) {
    const status = await find("public", `http://${host}/`);
    assert.equal(status, host.includes("local") ? 502 : 403, host);
  }
  assert.equal(await find("public", "https://internal.example.com/"), 502);
  assert.equal(await find("public", "http://metadata.google.internal/"), 502);
  assert.equal(await find("public", "https://self.example.com/"), 502);
});

test("a name with public and private addresses is reached at its public addresses only", async () => {
  assert.deepEqual(await find("public", "https://mixed.example.com/"), [publicAddress, "2606:4700::1"]);
});

test("a private name and a name that does not exist get the same answer", async () => {
  const finder = createDestinationFinder({ outbound: "public", lookup: async (name) => names[name] ?? [] });
  const answers = [];
  for (const host of ["internal.example.com", "missing.example.com"]) {
    const found = await finder(parseTargetUrl(`https://${host}/`)!);
    assert.ok("message" in found);
    const { advice, ...visible } = found;
    assert.match(advice, /10\.0\.0\.5|not found/);
    answers.push(visible);
  }
  assert.deepEqual(answers[0], answers[1]);
});

test("a lookup that fails refuses the request", async () => {
  const lookup = () => Promise.reject(new Error("no server"));
  const found = await createDestinationFinder({ outbound: "public", lookup })(
    parseTargetUrl("http://a.example/")!,
  );
  assert.ok("status" in found && found.status === 502);
});

test('with outbound = "public", ports of other protocols are refused unless they are listed', async () => {
  for (const port of [22, 25, 465, 587, 6667]) {
    assert.equal(await find("public", `http://example.com:${port}/`), 403);
    assert.deepEqual(await find([`example.com:${port}`], `http://example.com:${port}/`), [publicAddress]);
  }
  assert.deepEqual(await find("public", "https://example.com:8443/"), [publicAddress]);
});

test("a list names hosts exactly, or all names below a domain", async () => {
  const list = ["API.example.com", "*.b.example.com"];
  assert.deepEqual(await find(list, "https://api.example.com/"), [publicAddress]);
  assert.deepEqual(await find(list, "https://api.example.com./"), [publicAddress]);
  assert.deepEqual(await find(list, "https://a.b.example.com/"), [publicAddress]);
  for (const host of ["example.com", "b.example.com", "xapi.example.com", "api.example.com.evil.example"]) {
    assert.equal(await find(list, `https://${host}/`), 403, host);
  }
  assert.equal(await find(list, `https://${publicAddress}/`), 403);
});

test("an entry without a port is for the default ports, and one with a port for that port", async () => {
  assert.deepEqual(await find(["example.com"], "http://example.com/"), [publicAddress]);
  assert.equal(await find(["example.com"], "http://example.com:443/"), 403);
  assert.equal(await find(["example.com"], "https://example.com:8443/"), 403);
  assert.deepEqual(await find(["example.com:8443"], "https://example.com:8443/"), [publicAddress]);
  assert.equal(await find(["example.com:8443"], "https://example.com/"), 403);
});

test("a listed name is refused at a private address unless the list names the address too", async () => {
  assert.equal(await find(["internal.example.com"], "http://internal.example.com/"), 502);
  assert.deepEqual(await find(["internal.example.com", "10.0.0.5"], "http://internal.example.com/"), [
    "10.0.0.5",
  ]);
  assert.equal(await find(["internal.example.com", "10.0.0.5:81"], "http://internal.example.com/"), 502);
  assert.equal(await find(["*.example.com"], "http://internal.example.com/"), 502);
});

test("a listed address may be private, in every spelling", async () => {
  assert.deepEqual(await find(["10.0.0.5"], "http://10.0.0.5/"), ["10.0.0.5"]);
  assert.deepEqual(await find(["10.0.0.5"], "http://0x0a000005/"), ["10.0.0.5"]);
  assert.deepEqual(await find(["fd00::5"], "http://[fd00:0::5]/"), ["fd00::5"]);
  assert.deepEqual(await find(["[fd00::5]:8080"], "http://[fd00::5]:8080/"), ["fd00::5"]);
  assert.equal(await find(["10.0.0.5"], "http://10.0.0.6/"), 403);
  assert.deepEqual(await find(["localhost:9000"], "http://localhost:9000/"), ["127.0.0.1", "::1"]);
  assert.equal(await find(["localhost:9000"], "http://127.0.0.1:9000/"), 403);
});

test("entries that are not hosts are refused, with a message that shows the forms", () => {
  const entries = [
    ...["", "*", "*.", "*.com", "https://example.com", "example.com/path", "user@example.com", "a b"],
    ...["*.10.0.0.1", "ex*mple.com", "*.*.example.com", "10.0.0.0/8", "example.com:0x", "example.com:99999"],
  ];
  for (const entry of entries) {
    const create = () => createDestinationFinder({ outbound: [entry] });
    assert.throws(create, { name: "RangeError", message: /api\.example\.com/ }, entry);
  }
});
