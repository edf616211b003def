// Ranges and part numbers of GET and HEAD: 206 always has Content-Range (RFC 9110 15.3.7).
import assert from "node:assert/strict";
import { test } from "node:test";
import { directScene } from "../direct.ts";

test("a range that covers the whole object gets 206 with Content-Range", async (t) => {
  const { engine, ask } = await directScene(t);
  await engine.createBucket("photos");
  await engine.put("photos", "ten", Buffer.from("0123456789"));
  await engine.put("photos", "five", Buffer.from("value"));
  const cases = [
    ["ten", "bytes=0-", "bytes 0-9/10"],
    ["ten", "bytes=0-9", "bytes 0-9/10"],
    ["ten", "bytes=-10", "bytes 0-9/10"],
    ["ten", "bytes=-11", "bytes 0-9/10"],
    ["five", "bytes=0-99", "bytes 0-4/5"],
    ["five", "bytes=0-0", "bytes 0-0/5"],
  ] as const;
  for (const [key, range, expected] of cases) {
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await ask({ method, path: `/photos/${key}`, headers: { range } });
      assert.deepEqual([status, headers["content-range"]], [206, expected], `${method} ${range}`);
    }
  }
});

test("a part number that covers the whole object gets 206 with Content-Range", async (t) => {
  const { engine, ask } = await directScene(t);
  await engine.createBucket("photos");
  await engine.put("photos", "five", Buffer.from("value"));
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await ask({ method, path: "/photos/five", query: [["partNumber", "1"]] });
    assert.deepEqual([status, headers["content-range"]], [206, "bytes 0-4/5"], method);
  }
});

test("a request without a range or with a malformed range gets 200 without Content-Range", async (t) => {
  const { engine, ask } = await directScene(t);
  await engine.createBucket("photos");
  await engine.put("photos", "five", Buffer.from("value"));
  await engine.put("photos", "empty", new Uint8Array());
  const malformed = ["bytes=3-1", "bytes=0-1,3-4", "lines=0-1", "bytes= -1", "bytes=-"];
  for (const headers of [{}, ...malformed.map((range) => ({ range }))]) {
    const answer = await ask({ method: "GET", path: "/photos/five", headers });
    assert.deepEqual(
      [answer.status, answer.headers["content-range"], answer.text],
      [200, undefined, "value"],
    );
  }
  const empty = await ask({ method: "GET", path: "/photos/empty", query: [["partNumber", "1"]] });
  assert.deepEqual([empty.status, empty.headers["content-range"]], [200, undefined]);
  const refused = await ask({ method: "GET", path: "/photos/empty", headers: { range: "bytes=0-" } });
  assert.deepEqual([refused.status, refused.code], [416, "InvalidRange"]);
});

test("If-Range: a range of another version gets the whole object", async (t) => {
  const { engine, ask } = await directScene(t);
  await engine.createBucket("photos");
  await engine.put("photos", "five", Buffer.from("value"));
  const { etag, uploaded } = (await engine.head("photos", "five"))!;
  const cases = [
    [`"${etag}"`, 206],
    [new Date(uploaded).toUTCString(), 206],
    ['"other"', 200],
    [`W/"${etag}"`, 200],
    [new Date(uploaded - 2000).toUTCString(), 200],
    ["nonsense", 200],
  ] as const;
  for (const [condition, expected] of cases) {
    for (const method of ["GET", "HEAD"]) {
      const headers = { range: "bytes=1-2", "if-range": condition };
      const { status, headers: answered } = await ask({ method, path: "/photos/five", headers });
      const length = expected === 206 ? "2" : "5";
      assert.deepEqual([status, answered["content-length"]], [expected, length], `${method} ${condition}`);
    }
  }
  const beyond = { range: "bytes=9-", "if-range": '"other"' };
  const whole = await ask({ method: "GET", path: "/photos/five", headers: beyond });
  assert.deepEqual([whole.status, whole.text], [200, "value"]);
});

test("a range outside the object is refused with the object's size", async (t) => {
  const { engine, ask } = await directScene(t);
  await engine.createBucket("photos");
  await engine.put("photos", "five", Buffer.from("value"));
  for (const method of ["GET", "HEAD"]) {
    const refused = await ask({ method, path: "/photos/five", headers: { range: "bytes=5-" } });
    assert.deepEqual([refused.status, refused.headers["content-range"]], [416, "bytes */5"], method);
    if (method === "GET") assert.match(refused.text, /<ActualObjectSize>5<\/ActualObjectSize>/);
  }
});
