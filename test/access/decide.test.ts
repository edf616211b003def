// Tests which requests grants allow: by bucket, part of a bucket, right and account.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AccessRequest,
  type Caller,
  canSeeBucket,
  type Decision,
  decide as decideWith,
} from "../../src/access/decide.ts";
import { bucketIdentity, parseGrant, type Right, rights, type Target } from "../../src/access/grants.ts";
import type { Bucket } from "../../src/model/bucket.ts";

const bucket: Bucket = {
  name: "photos",
  created: 1,
  storageClass: "Standard",
  account: "default",
  settings: {},
};
const foreign: Bucket = { ...bucket, account: "other" };

function caller(...grants: string[]): Caller {
  return { accessKeyId: "STORE", account: "default", grants: grants.map(parseGrant) };
}

function ask(right: Right, target: Target, more: Partial<AccessRequest> = {}): AccessRequest {
  return { operation: "Any", right, target, canAppend: false, actions: [], ...more };
}

/** Without a policy, no value of the request matters. */
function decide(caller: Caller, bucket: Bucket, request: AccessRequest): Decision {
  return decideWith(caller, bucket, request, () => undefined);
}

const object = (key: string): Target => ({ kind: "object", key });
const listing = (prefix: string): Target => ({ kind: "listing", prefix });

test("a key without grants may do everything in its account and nothing in another", () => {
  const owner: Caller = { accessKeyId: "STORE", account: "default", grants: undefined };
  for (const right of rights) {
    assert.equal(decide(owner, bucket, ask(right, { kind: "bucket" })), "allowed");
    assert.equal(decide(owner, foreign, ask(right, { kind: "bucket" })), "denied");
  }
});

test("a grant allows only its rights on its bucket, and admin includes every right", () => {
  for (const given of rights) {
    for (const right of rights) {
      const expected = given === right || given === "admin" ? "allowed" : "denied";
      for (const target of [object("a"), listing(""), { kind: "bucket" }, { kind: "part" }] as const)
        assert.equal(decide(caller(`photos:${given}`), bucket, ask(right, target)), expected);
      assert.equal(decide(caller(`logs:${given}`), bucket, ask(right, object("a"))), "denied");
    }
  }
  assert.equal(decide(caller(), bucket, ask("read", { kind: "part" })), "denied");
});

test("a grant on a prefix allows keys and listings inside the prefix only", () => {
  const limited = caller("photos/2026/*:read,list,admin");
  const cases: [Target, string][] = [
    [object("2026/a"), "allowed"],
    [object("2026/"), "allowed"],
    [object("2026"), "denied"],
    [object("2025/a"), "denied"],
    [listing("2026/"), "allowed"],
    [listing("2026/05/"), "allowed"],
    [listing("20"), "denied"],
    [listing(""), "denied"],
    [{ kind: "bucket" }, "denied"],
    [{ kind: "part" }, "allowed"],
  ];
  for (const [target, expected] of cases)
    assert.equal(decide(limited, bucket, ask("list", target)), expected, JSON.stringify(target));
});

test("a grant on one key allows this key and no listing", () => {
  const limited = caller("photos/cat.jpg:read,list");
  assert.equal(decide(limited, bucket, ask("read", object("cat.jpg"))), "allowed");
  assert.equal(decide(limited, bucket, ask("read", object("cat.jpg2"))), "denied");
  assert.equal(decide(limited, bucket, ask("list", listing("cat.jpg"))), "denied");
});

test("the right to append allows creating where the operation permits it, and nothing else", () => {
  const appender = caller("photos/log/*:append");
  const write = ask("write", object("log/1"), { canAppend: true });
  assert.equal(decide(appender, bucket, write), "create only");
  assert.equal(decide(appender, bucket, { ...write, canAppend: false }), "denied");
  assert.equal(decide(appender, bucket, { ...write, target: object("1") }), "denied");
  assert.equal(decide(appender, bucket, ask("delete", object("log/1"))), "denied");
  assert.equal(decide(caller("photos/log/*:append", "photos:write"), bucket, write), "allowed");
});

test("a grant on every bucket applies to the own account; another account's bucket must be named", () => {
  assert.equal(decide(caller("*:read"), bucket, ask("read", object("a"))), "allowed");
  assert.equal(decide(caller("*:read"), foreign, ask("read", object("a"))), "denied");
  assert.equal(decide(caller("photos:read"), foreign, ask("read", object("a"))), "allowed");
});

test("a grant that is bound to an earlier bucket of the same name does not apply", () => {
  const grant = { ...parseGrant("photos:read"), identity: bucketIdentity({ ...bucket, created: 0 }) };
  const holder: Caller = { ...caller(), grants: [grant] };
  assert.equal(decide(holder, bucket, ask("read", object("a"))), "denied");
  assert.equal(canSeeBucket(holder, bucket), false);
});

test("temporary credentials allow what both their scope and their parent allow", () => {
  const scope = {
    grants: [parseGrant("photos/2026/*:read,append")],
    operations: new Set(["GetObject", "PutObject"]),
    issued: Date.now(),
  };
  const get = ask("read", object("2026/a"), { operation: "GetObject" });
  const put = ask("write", object("2026/a"), { operation: "PutObject", canAppend: true });
  const owner: Caller = { accessKeyId: "STORE", account: "default", grants: undefined, scope };
  assert.equal(decide(owner, bucket, get), "allowed");
  assert.equal(decide(owner, bucket, put), "create only");
  assert.equal(decide(owner, bucket, { ...get, operation: "HeadObject" }), "denied");
  assert.equal(decide(owner, bucket, { ...get, target: object("2025/a") }), "denied");
  assert.equal(decide(owner, foreign, get), "denied");
  assert.equal(decide({ ...caller("photos:list"), scope }, bucket, get), "denied");
  assert.equal(decide({ ...caller("photos:append"), scope }, bucket, put), "create only");
  const whole = { ...scope, grants: [parseGrant("photos:admin")] };
  assert.equal(decide({ ...caller("photos:append"), scope: whole }, bucket, put), "create only");
});
