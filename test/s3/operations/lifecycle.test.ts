// Lifecycle documents with filters by tag and size, and with rules on noncurrent versions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, type VersionedScene, versionedScene } from "../versioned.ts";

const rule = (filter: string, action: string, id = "r") =>
  `<Rule><ID>${id}</ID>${filter}<Status>Enabled</Status>${action}</Rule>`;
const tag = (key: string, value: string) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
const expire = "<Expiration><Days>1</Days></Expiration>";
const everything = "<Filter><Prefix></Prefix></Filter>";

function put({ request }: VersionedScene, rules: string) {
  const body = `<LifecycleConfiguration>${rules}</LifecycleConfiguration>`;
  return request("PUT", "", { query: "lifecycle", body });
}

test("filters and rules on versions are returned as they were put", async (t) => {
  const scene = await versionedScene(t);
  const noncurrent = "<NoncurrentDays>3</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions>";
  const rules = [
    rule(`<Filter>${tag("a", "b")}</Filter>`, expire, "tag"),
    rule(
      `<Filter><And><Prefix>logs/</Prefix>${tag("a", "b")}${tag("c", "")}<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>`,
      expire,
      "and",
    ),
    rule("<Filter><ObjectSizeLessThan>9</ObjectSizeLessThan></Filter>", expire, "size"),
    rule(
      everything,
      `<NoncurrentVersionExpiration>${noncurrent}</NoncurrentVersionExpiration>`,
      "expire noncurrent",
    ),
    rule(
      everything,
      `<NoncurrentVersionTransition>${noncurrent}<StorageClass>STANDARD_IA</StorageClass></NoncurrentVersionTransition>`,
      "move noncurrent",
    ),
    rule(
      everything,
      "<Transition><Days>30</Days><StorageClass>STANDARD_IA</StorageClass></Transition><Transition><Days>90</Days><StorageClass>GLACIER</StorageClass></Transition>",
      "several",
    ),
    rule(
      everything,
      `<NoncurrentVersionTransition>${noncurrent}<StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition><NoncurrentVersionTransition><NoncurrentDays>9</NoncurrentDays><StorageClass>DEEP_ARCHIVE</StorageClass></NoncurrentVersionTransition>`,
      "several noncurrent",
    ),
    rule(
      "<Prefix>old/</Prefix>",
      "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>",
      "markers",
    ),
  ];
  const stored = await put(scene, rules.join(""));
  assert.equal(stored.status, 200, stored.text);
  const { text } = await scene.request("GET", "", { query: "lifecycle" });
  assert.deepEqual(text.match(/<Rule>.*?<\/Rule>/gs), rules);
});

test("a rule that S3 does not allow is refused", async (t) => {
  const scene = await versionedScene(t);
  const noncurrent = (inner: string) => `<NoncurrentVersionExpiration>${inner}</NoncurrentVersionExpiration>`;
  const days = (count: number) => `<NoncurrentDays>${count}</NoncurrentDays>`;
  const keep = (count: number) => `<NewerNoncurrentVersions>${count}</NewerNoncurrentVersions>`;
  const markers = "<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>";
  const move = (count: number, to = "STANDARD_IA") =>
    `<NoncurrentVersionTransition>${days(count)}<StorageClass>${to}</StorageClass></NoncurrentVersionTransition>`;
  const to = (when: string, name: string) =>
    `<Transition>${when}<StorageClass>${name}</StorageClass></Transition>`;
  const date = "<Date>2030-01-01T00:00:00.000Z</Date>";
  const abort =
    "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>";
  const tagged = `<Filter>${tag("a", "b")}</Filter>`;
  for (const [filter, action, code] of [
    [everything, noncurrent(days(0)), "InvalidArgument"],
    [everything, noncurrent(""), "MalformedXML"],
    [everything, noncurrent(days(1) + keep(0)), "InvalidArgument"],
    [everything, noncurrent(days(1) + keep(101)), "InvalidArgument"],
    ["<Prefix/>", noncurrent(days(1) + keep(1)), "InvalidRequest"],
    [everything, move(3) + noncurrent(days(3)), "InvalidArgument"],
    [everything, move(3, "STANDARD"), "InvalidStorageClass"],
    [everything, move(3, "COLD"), "InvalidStorageClass"],
    [everything, move(3, "GLACIER") + move(9, "GLACIER"), "InvalidRequest"],
    [everything, move(3) + move(0, "GLACIER"), "InvalidArgument"],
    [everything, to("<Days>1</Days>", "GLACIER") + to(date, "DEEP_ARCHIVE"), "InvalidRequest"],
    [everything, `<Expiration><Days>1</Days>${markers}</Expiration>`, "MalformedXML"],
    [everything, `<Expiration>${markers.replace("true", "maybe")}</Expiration>`, "MalformedXML"],
    [everything, `<Expiration>${markers.replace("true", "false")}</Expiration>`, "InvalidRequest"],
    [tagged, `<Expiration>${markers}</Expiration>`, "InvalidRequest"],
    [tagged, abort, "InvalidRequest"],
    [`<Filter><And>${tag("a", "b")}${tag("a", "c")}</And></Filter>`, expire, "InvalidRequest"],
    ["<Filter><Tag><Key>a</Key></Tag></Filter>", expire, "MalformedXML"],
    [`<Filter>${tag("aws:a", "b")}</Filter>`, expire, "InvalidArgument"],
    [`${everything}<Prefix/>`, expire, "MalformedXML"],
  ] as const) {
    assertRefused(await put(scene, rule(filter, action)), [400, code]);
  }
});

test("x-amz-expiration names a rule by tag only for objects that have the tag", async (t) => {
  const scene = await versionedScene(t);
  assert.equal((await put(scene, rule(`<Filter>${tag("a", "b")}</Filter>`, expire))).status, 200);
  await scene.put("tagged", "x", { "x-amz-tagging": "a=b&c=d" });
  await scene.put("other", "x", { "x-amz-tagging": "a=c" });
  assert.match((await scene.request("HEAD", "tagged")).headers["x-amz-expiration"] ?? "", /rule-id="r"$/);
  assert.equal((await scene.request("HEAD", "other")).headers["x-amz-expiration"], undefined);
});
