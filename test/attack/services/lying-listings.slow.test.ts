// An S3 service whose listings lie. No command writes outside of its folder, deletes what the service
// does not want to know, or runs for ever.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listPage } from "./lying-s3.ts";
import { openVictim, secret, type Victim } from "./victim.ts";

/** Answers listings below `in/` by `page`, which gets the number of the page. */
function lieAboutListings(victim: Victim, page: (index: number) => string): void {
  let index = 0;
  victim.service.lie = ({ key, query, response }) => {
    if (key !== undefined || !query.has("list-type")) return false;
    if (!query.has("continuation-token")) index = 0;
    response.end(page(index++));
    return true;
  };
}

const keys = (...names: string[]) => names.map((name) => ({ key: `in/${name}` }));

interface Lie {
  readonly name: string;
  page(index: number): string;
  readonly reason: RegExp;
}

const lies: readonly Lie[] = [
  {
    name: "goes backwards",
    page: () => listPage(keys("b", "a")),
    reason: /repeats keys or is not in their order/,
  },
  { name: "repeats a key", page: () => listPage(keys("a", "a")), reason: /repeats keys/ },
  {
    name: "repeats its first page for ever",
    page: (index) => listPage(keys("a"), `token-${index}`),
    reason: /repeats keys/,
  },
  {
    name: "has one token for ever",
    page: (index) => listPage(keys(`a${index}`), "same"),
    reason: /without the start of the next page|names itself as the next page/,
  },
  {
    name: "has keys that were not requested",
    page: () => listPage([{ key: "other/key" }]),
    reason: /keys that were not requested|cannot be read/,
  },
  {
    name: "has a size that is no number",
    page: () => listPage([{ key: "in/a", size: "0x10" }]),
    reason: /without a size|cannot be read/,
  },
  {
    name: "has a size that no file has",
    page: () => listPage([{ key: "in/a", size: "-1" }]),
    reason: /without a size|cannot be read/,
  },
  {
    name: "has a key of 10,000 bytes",
    page: () => listPage(keys("k".repeat(10_000))),
    reason: /longer than 1024 bytes/,
  },
  {
    name: "defines entities",
    page: () => `<!DOCTYPE x [<!ENTITY a "${"a".repeat(1000)}">]><ListBucketResult>&a;</ListBucketResult>`,
    reason: /is not a ListBucketResult document|no valid IsTruncated/,
  },
  {
    name: "nests elements without end",
    page: () => "<ListBucketResult>".repeat(50_000),
    reason: /is not a ListBucketResult document|no valid IsTruncated/,
  },
];

for (const { name, page, reason } of lies) {
  test(`a listing that ${name} is reported, and nothing is deleted`, async (t) => {
    const victim = await openVictim(t);
    const { service, fails } = victim;
    service.objects.set("in/a", Buffer.from("x"));
    lieAboutListings(victim, page);
    const commands = [
      ["sync", "work:bucket/in", "./dest", "--delete"],
      ["sync", "work:bucket/in", "local", "--delete"],
      ["cp", "work:bucket/in", "./dest", "--recursive"],
      ["ls", "work:bucket/in/", "--recursive"],
      ["rm", "work:bucket/in", "--recursive", "--yes"],
      ["import", `http://127.0.0.1:${service.port}/bucket/in`, "local"],
    ];
    for (const args of commands) {
      const failure = await fails(...args);
      assert.match(failure, reason, args.join(" "));
      assert.doesNotMatch(failure, new RegExp(secret));
    }
    const { "dest/a": _, ...files } = await victim.files();
    assert.deepEqual(files, { "dest/mine": "mine" });
    assert.ok(!service.calls.some((call) => /^(DELETE|POST) .*(other|delete)/.test(call)));
  });
}

const hostileKeys = [
  ...["", ".", "..", "../out", "../../out", "/abs", "//host/share", "a/../../out", "a/./b", "a//b", "a/"],
  ...["nul\0byte", "link", "link/x", "link-file", "link-file/x", "b/.store-0123456789abcdef.part"],
  ...["é".repeat(200)],
];
const harmlessKeys = ["C:\\x", "CON", "a/b", "\x1b[31mred\x07", "\u202egnp.exe", "~", "-rf", "$(id)"];

test("keys that would leave the folder are reported, and only the others are written", async (t) => {
  for (const command of ["sync", "cp"]) {
    const victim = await openVictim(t);
    for (const key of [...hostileKeys, ...harmlessKeys])
      victim.service.objects.set(`in/${key}`, Buffer.from("x"));
    const more = command === "cp" ? ["--recursive"] : [];
    const failure = await victim.fails(command, "work:bucket/in", "./dest", ...more);
    assert.doesNotMatch(failure, /[\x00-\x09\x0b-\x1f]/);
    const written = harmlessKeys.map((key) => [`dest/${key}`, "x"] as const);
    assert.deepEqual(await victim.files(), Object.fromEntries([...written, ["dest/mine", "mine"]].sort()));
  }
});

test("a service that lists deleted objects again does not keep a deletion running", async (t) => {
  const victim = await openVictim(t);
  victim.service.lie = ({ key, query, response }) => {
    if (key !== undefined) return false;
    if (query.has("list-type")) response.end(listPage([{ key: "a" }]));
    else if (query.has("delete"))
      response.end("<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>");
    else if (query.has("versioning")) response.end("<VersioningConfiguration/>");
    else if (query.has("object-lock"))
      response.writeHead(404).end("<Error><Code>ObjectLockConfigurationNotFoundError</Code></Error>");
    else return false;
    return true;
  };
  const args = ["bucket", "delete", "bucket", "--force", "--yes", "--profile", "work"];
  assert.match(await victim.fails(...args), /filled faster than it can be emptied/);
});
