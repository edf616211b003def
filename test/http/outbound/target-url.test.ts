// The target of a request in proxy form: odd spellings of hosts become one plain form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTargetUrl } from "../../../src/http/outbound/target-url.ts";

const hosts: Readonly<Record<string, string>> = {
  "http://example.com/": "example.com",
  "HTTP://EXAMPLE.com": "example.com",
  "http://example.com./": "example.com",
  "http://bücher.example/": "xn--bcher-kva.example",
  "http://127.0.0.1./": "127.0.0.1",
  "http://2130706433/": "127.0.0.1",
  "http://0x7f000001/": "127.0.0.1",
  "http://0x7f.1/": "127.0.0.1",
  "http://0177.0.0.01/": "127.0.0.1",
  "http://127.1/": "127.0.0.1",
  "http://0/": "0.0.0.0",
  "http://%31%32%37.0.0.1/": "127.0.0.1",
  "http://１２７.0.0.1/": "127.0.0.1",
  "http://[::1]/": "::1",
  "http://[0:0:0:0:0:0:0:1]:80/": "::1",
  "http://[::ffff:127.0.0.1]/": "::ffff:7f00:1",
};

test("every spelling of a host becomes one plain form", () => {
  for (const [target, host] of Object.entries(hosts))
    assert.equal(parseTargetUrl(target)?.host, host, target);
});

test("targets that are not plain http or https URLs are refused", () => {
  const targets = [
    ...["/", "*", "", "example.com:443", "//example.com/", "ftp://example.com/", "file:///etc/passwd"],
    ...[
      "http:///path",
      "http://user@example.com/",
      "http://user:secret@example.com/",
      "http://@example.com/",
    ],
    ...["http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://1.2.3.4.5/", "http://256.1.1.1/"],
    ...["http://example.com:99999/", "http://example.com:x/", "http://exa mple.com/", "http://a.example/b c"],
    ...["http://example.com/#fragment", "http://example.com\\@evil.example/", "http://./", "http://a/\u0000"],
    ...["unix:/run/socket", "https:example.com/", `http://${"a".repeat(254)}/`, "http://ex<ample.com/"],
  ];
  for (const target of targets) assert.equal(parseTargetUrl(target), undefined, target);
});

test("path and query are kept exactly as sent", () => {
  assert.equal(parseTargetUrl("https://a.example/x/../%2e%2E//y?q=%20&&")?.path, "/x/../%2e%2E//y?q=%20&&");
  assert.equal(parseTargetUrl("https://a.example?q")?.path, "/?q");
  assert.equal(parseTargetUrl("https://a.example")?.path, "/");
});

test("the Host header has the port only if it is not the default port of the scheme", () => {
  assert.equal(parseTargetUrl("https://a.example:443/")?.authority, "a.example");
  assert.equal(parseTargetUrl("http://a.example:443/")?.authority, "a.example:443");
  assert.equal(parseTargetUrl("http://[::1]:8080/")?.authority, "[::1]:8080");
  assert.equal(parseTargetUrl("http://a.example:080/")?.port, 80);
});
