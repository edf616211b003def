// Parsing of blob backend URLs. Errors for invalid URLs never contain a secret.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeLocation, parseLocation } from "../../../src/cluster/open-backend.ts";

test("an s3:// location is parsed with percent-decoded keys and with defaults", () => {
  assert.deepEqual(parseLocation("s3://KEY:SECRET@host:7480/bucket"), {
    kind: "s3",
    endpoint: {
      accessKeyId: "KEY",
      secretAccessKey: "SECRET",
      hostname: "host",
      port: 7480,
      tls: true,
      region: "us-east-1",
      bucket: "bucket",
      prefix: "",
    },
  });
  assert.deepEqual(parseLocation("s3://K%3AY:a%2Fb+c%40d:e@[::1]/b/one/t%20wo/?region=eu-1&tls=true"), {
    kind: "s3",
    endpoint: {
      accessKeyId: "K:Y",
      secretAccessKey: "a/b+c@d:e",
      hostname: "::1",
      port: 443,
      tls: true,
      region: "eu-1",
      bucket: "b",
      prefix: "one/t wo/",
    },
  });
});

test("an s3:// location uses TLS by default, except for a loopback address, and ?tls overrides it", () => {
  const rows: readonly [url: string, tls: boolean, port: number][] = [
    ["s3://K:S@s3.example.com/b", true, 443],
    ["s3://K:S@10.0.0.7/b", true, 443],
    ["s3://K:S@127.0.0.1.example.com/b", true, 443],
    ["s3://K:S@localhost.example.com/b", true, 443],
    ["s3://K:S@[fd00::1]/b", true, 443],
    ["s3://K:S@127.0.0.1/b", false, 80],
    ["s3://K:S@127.1.2.3:9000/b", false, 9000],
    ["s3://K:S@localhost/b", false, 80],
    ["s3://K:S@LOCALHOST/b", false, 80],
    ["s3://K:S@s3.localhost/b", false, 80],
    ["s3://K:S@[::1]:9000/b", false, 9000],
    ["s3://K:S@s3.example.com:7480/b?tls=false", false, 7480],
    ["s3://K:S@s3.example.com/b?tls=false", false, 80],
    ["s3://K:S@localhost/b?tls=true", true, 443],
  ];
  for (const [url, tls, port] of rows) {
    const location = parseLocation(url);
    assert(location.kind === "s3");
    assert.deepEqual([location.endpoint.tls, location.endpoint.port], [tls, port], url);
  }
});

test("a file:// location is parsed to its absolute, decoded path", () => {
  assert.deepEqual(parseLocation("file:///mnt/shared/a%20b/"), {
    kind: "directory",
    directory: "/mnt/shared/a b",
  });
});

const wrong: [url: string, words: RegExp][] = [
  ["", /nothing was given/],
  ["/mnt/shared", /neither "s3:\/\/" nor "file:\/\/\/"/],
  ["http://KEY:hunter2@host/bucket", /neither/],
  ["file://mnt/shared", /"file:\/\/\/" and its absolute path/],
  ["file:mnt", /absolute path/],
  ["file:///", /absolute path/],
  ["file:///a%2Fb", /percent-encoded/],
  ["file:///a?b", /written %3F/],
  ["s3://host/bucket", /"KEY:SECRET@host" must follow/],
  ["s3://KEY:hun/ter2@host/bucket", /written %2F/],
  ["s3://KEY@host/bucket", /no secret/],
  ["s3://KEY:@host/bucket", /no secret/],
  ["s3://:hunter2@host/bucket", /no access key/],
  ["s3://K%0AY:hunter2@host/bucket", /characters that are not allowed/],
  ["s3://KEY:hunter2%@host/bucket", /"%" in the secret/],
  ["s3://KEY:hunter2@host", /no bucket/],
  ["s3://KEY:hunter2@host/", /no bucket/],
  ["s3://KEY:hunter2@host:port/bucket", /is not a port/],
  ["s3://KEY:hunter2@host:70000/bucket", /from 1 to 65535/],
  ["s3://KEY:hunter2@ho st/bucket", /host is not valid/],
  ["s3://KEY:hunter2@host/bucket?tls=yes", /"tls" must be/],
  ["s3://KEY:hunter2@host/bucket?region=", /"region" is not/],
  ["s3://KEY:hunter2@host/bucket?timeout=3", /only "region" and "tls"/],
  ["s3://KEY:hunter2@host/bucket?tls=true&tls=true", /"tls" is repeated/],
  ["s3://KEY:hunter2@host/bucket#x", /must follow/],
];

test("an invalid location is refused with a message that states the reason and omits the secret", () => {
  for (const [url, words] of wrong) {
    assert.throws(
      () => parseLocation(url),
      (error: Error) => {
        assert(error instanceof TypeError, url);
        assert.match(error.message, words, url);
        assert.doesNotMatch(`${error.stack}`, /hunter2|hun\/ter2/, url);
        return true;
      },
    );
    assert.equal(describeLocation(url), "a location that is not valid");
  }
});

test("the description of a location has no access key and no secret", () => {
  assert.equal(describeLocation("s3://KEY:hunter2@host:7480/bucket/p/q"), "s3://host:7480/bucket/p/q");
  assert.equal(describeLocation("s3://KEY:hunter2@host/bucket?tls=true"), "s3://host/bucket");
  assert.equal(describeLocation("file:///mnt/a%20b"), "file:///mnt/a b");
});
