// CORS rules: which rule applies to a request, and how much work that is at most.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CorsRule, corsRuleFor, maxRequestedHeaders } from "../../../src/model/settings/cors.ts";

const rule: CorsRule = {
  origins: ["https://a.example", "https://*.b.example"],
  methods: ["GET", "PUT"],
  headers: ["Content-Type", "x-amz-*", "*-end"],
  exposed: [],
};

test("a rule applies if origin, method and every requested header match", () => {
  const applies = (origin: string, method: string, ...headers: string[]) =>
    corsRuleFor([rule], { origin, method, headers }) === rule;
  assert.ok(applies("https://a.example", "GET"));
  assert.ok(applies("https://x.b.example", "PUT", "content-type", "x-amz-date", "x-amz-", "any-end"));
  assert.ok(!applies("https://b.example", "GET"));
  assert.ok(!applies("https://a.example.evil", "GET"));
  assert.ok(!applies("https://A.example", "GET"), "origins are compared exactly");
  assert.ok(!applies("https://a.example", "DELETE"));
  assert.ok(!applies("https://a.example", "GET", "content-type", "authorization"));
  assert.ok(!applies("https://.b.exampl", "GET"), "both sides of the wildcard must fit");
});

test("the first rule that applies is used, and changed rules take effect", () => {
  const open: CorsRule = { ...rule, origins: ["*"], headers: [] };
  const request = { origin: "https://a.example", method: "GET", headers: [] };
  assert.equal(corsRuleFor([rule, open], request), rule);
  assert.equal(corsRuleFor([open, rule], request), open);
  assert.equal(corsRuleFor([open, rule], { ...request, headers: ["content-type"] }), rule);
});

test("a request that names more than 100 headers is refused without comparing them", () => {
  const headers = Array.from({ length: maxRequestedHeaders }, () => "content-type");
  const request = { origin: "https://a.example", method: "GET" };
  assert.equal(corsRuleFor([rule], { ...request, headers }), rule);
  const many = new Proxy([...headers, "content-type"], {
    get: (list, name) => (name === "length" ? list.length : assert.fail(`reads ${String(name)}`)),
  });
  assert.equal(corsRuleFor([rule], { ...request, headers: many }), undefined);
});

test("the values of rules are read once, not for each request", () => {
  let reads = 0;
  const counted = new Proxy(["a", "b", "x-*"], {
    get(list, name, receiver) {
      reads++;
      return Reflect.get(list, name, receiver) as unknown;
    },
  });
  const rules = [{ ...rule, headers: counted }];
  const request = { origin: "https://a.example", method: "GET", headers: ["a", "x-y", "b"] };
  assert.equal(corsRuleFor(rules, request), rules[0]);
  const first = reads;
  for (let i = 0; i < 100; i++) assert.equal(corsRuleFor(rules, request), rules[0]);
  assert.equal(reads, first);
});
