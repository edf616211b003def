// HTMLRewriter: documents are streamed in chunks, and parts that no handler changes stay identical.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { describeResponse } from "../../../../src/script/globals/fetch/response.ts";
import { script, streamOf } from "../installed.ts";
import { cutStream, type Element, type Text } from "./rewriting.ts";

/** Random bytes, and random sequences of HTML tokens. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .array(
      fc.oneof(
        { arbitrary: fc.constantFrom(..."<>/!-=\"' \na[]?&".split("")), weight: 4 },
        fc.constantFrom(
          "<p>",
          "</p>",
          "<li a=b>",
          "<a href='x'>",
          "</div>",
          "<br/>",
          "é",
          "\xff",
          "<!doctype html>",
        ),
        fc.constantFrom("<!--", "-->", "<script>", "</script>", "<style>", "</style>", "<title>", "</title"),
        fc.constantFrom(
          "<svg>",
          "</svg>",
          "<![CDATA[",
          "]]>",
          "<math><mi>",
          "<table><tr><td>",
          "<plaintext>",
        ),
      ),
      { maxLength: 60 },
    )
    .map((parts) => Buffer.from(parts.join(""), "latin1")),
);
const anyCuts = fc.array(fc.nat(1000), { maxLength: 20 });

/** Returns a rewriter with handlers of every kind, none of which changes anything. */
function looking() {
  const look = {
    element: (element: Element) => [...element.attributes],
    text: (text: Text) => text.text,
    comments() {},
  };
  return new script.HTMLRewriter()
    .on("*", look)
    .on("p > a, div [href], li:nth-of-type(2)", { ...look, element: (element: Element) => element.tagName })
    .onDocument({ ...look, doctype() {}, end() {} });
}

test("an HTMLRewriter without handlers changes no byte, for any input and any chunk boundaries", async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes, anyCuts, async (bytes, cuts) => {
      const response = new script.HTMLRewriter().transform(new script.Response(cutStream(bytes, cuts)));
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(bytes));
    }),
    { numRuns: 300 },
  );
});

test("HTMLRewriter handlers that only read change no byte", async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes, anyCuts, async (bytes, cuts) => {
      const response = looking().transform(new script.Response(cutStream(bytes, cuts)));
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(bytes));
    }),
    { numRuns: 300 },
  );
});

test("the output of HTMLRewriter does not depend on chunk boundaries", async () => {
  const changing = () =>
    new script.HTMLRewriter()
      .on("a, li", {
        element: (element: Element) => element.setAttribute("x", "1").before("(").append("*").after(")"),
      })
      .on("title, script", { element: (element: Element) => element.setInnerContent("new") })
      .on("p", { comments: (comment: { remove(): unknown }) => comment.remove() });
  await fc.assert(
    fc.asyncProperty(anyBytes, anyCuts, async (bytes, cuts) => {
      const whole = await changing().transform(new script.Response(bytes)).arrayBuffer();
      const cut = await changing()
        .transform(new script.Response(cutStream(bytes, cuts)))
        .arrayBuffer();
      assert.deepEqual(Buffer.from(cut), Buffer.from(whole));
    }),
    { numRuns: 200 },
  );
});

test("a rewritten response keeps status and headers, except for Content-Length", async () => {
  const given = new script.Response("<p>", {
    status: 404,
    statusText: "Gone",
    headers: { "content-length": "3", "content-type": "text/html", "x-a": "é" },
  });
  const response = new script.HTMLRewriter().transform(given);
  assert.ok(response instanceof Response && response !== given);
  assert.deepEqual([response.status, response.statusText], [404, "Gone"]);
  assert.equal(response.headers.get("content-length"), null);
  assert.equal(response.headers.get("x-a"), "é");
  assert.ok(given.bodyUsed);
  const none = new script.HTMLRewriter().transform(new script.Response(null, { status: 204 }));
  assert.deepEqual([none.status, none.body], [204, null]);
  assert.throws(() => new script.HTMLRewriter().transform("<p>" as never), TypeError);
});

test("HTMLRewriter does not read its source before its output is read", async () => {
  let pulled = 0;
  let handled = 0;
  const source = new ReadableStream(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(Buffer.from("<p>x</p>"));
      },
    },
    { highWaterMark: 0 },
  );
  const response = new script.HTMLRewriter()
    .on("p", { element: () => handled++ })
    .transform(new script.Response(source));
  const reader = response.body!.getReader();
  await new Promise(setImmediate);
  assert.deepEqual([pulled, handled], [0, 0]);
  assert.equal(Buffer.from((await reader.read()).value as Uint8Array).toString(), "<p>x</p>");
  await new Promise(setImmediate);
  assert.deepEqual([pulled, handled], [1, 1]);
  await reader.cancel();
});

test("HTMLRewriter writes output as soon as a token is complete", async () => {
  const { readable, writable } = new script.IdentityTransformStream();
  const writer = writable.getWriter();
  const response = new script.HTMLRewriter()
    .on("p", { element() {} })
    .transform(new script.Response(readable));
  const reader = response.body!.getReader();
  const next = async () => Buffer.from((await reader.read()).value as Uint8Array).toString();
  const send = (text: string) => writer.write(Buffer.from(text));
  await Promise.all([send("<p>hello <b"), next().then((text) => assert.equal(text, "<p>hello "))]);
  await Promise.all([send(">world"), next().then((text) => assert.equal(text, "<b>world"))]);
  await reader.cancel();
});

test("asynchronous HTMLRewriter handlers are awaited in order", async () => {
  const order: string[] = [];
  const later = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise(setImmediate);
    order.push(`${name} ends`);
  };
  const html = await new script.HTMLRewriter()
    .on("p", {
      async element(element: Element) {
        await later("element")();
        element.setAttribute("a", "1");
        element.onEndTag(later("end tag"));
      },
      text: async (text: Text) => {
        if (text.lastInTextNode) return;
        await later("text")();
        text.replace("new");
      },
    })
    .onDocument({ end: later("end") })
    .transform(new script.Response("<p>old</p>"))
    .text();
  assert.equal(html, `<p a="1">new</p>`);
  const names = ["element", "text", "end tag", "end"];
  assert.deepEqual(
    order,
    names.flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

test("if an HTMLRewriter handler throws, reading the response fails and the source stream is cancelled", async () => {
  for (const fault of [() => Promise.reject(new Error("boom")), () => assert.fail("boom")]) {
    let cancelled: unknown;
    const source = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from("<p>x"));
      },
      cancel(reason) {
        cancelled = reason;
      },
    });
    const response = new script.HTMLRewriter()
      .on("p", { element: fault })
      .transform(new script.Response(source));
    await assert.rejects(response.text(), /boom/);
    assert.match(String(cancelled), /boom/);
  }
});

test("if the source stream of HTMLRewriter fails, reading the rewritten response fails", async () => {
  const source = new ReadableStream({
    pull() {
      throw new Error("broken");
    },
  });
  await assert.rejects(new script.HTMLRewriter().transform(new script.Response(source)).text(), /broken/);
});

test("cancelling a rewritten response cancels its source stream", async () => {
  let cancelled: unknown;
  const source = new ReadableStream({
    pull(controller) {
      controller.enqueue(Buffer.from("<p>"));
    },
    cancel(reason) {
      cancelled = reason;
    },
  });
  const response = new script.HTMLRewriter().transform(new script.Response(source));
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel("enough");
  assert.equal(cancelled, "enough");
});

test("an HTMLRewriter can be used several times, also on the output of another HTMLRewriter", async () => {
  const rewriter = new script.HTMLRewriter().on("p", { element: (element: Element) => element.append("!") });
  const once = () => rewriter.transform(new script.Response(streamOf("<p>", "a</p>")));
  assert.deepEqual(await Promise.all([once().text(), once().text()]), ["<p>a!</p>", "<p>a!</p>"]);
  assert.equal(await rewriter.transform(once()).text(), "<p>a!!</p>");
});

test("a body rewritten by HTMLRewriter is passed to the host as a stream", async () => {
  const { body } = describeResponse(new script.HTMLRewriter().transform(new script.Response("<p>")));
  assert.ok(body instanceof ReadableStream);
  assert.equal(await new script.Response(body).text(), "<p>");
});

test("HTMLRewriter refuses encodings that are not ASCII-compatible", () => {
  const response = new script.Response("", { headers: { "content-type": 'text/html; charset="UTF-16"' } });
  assert.throws(() => new script.HTMLRewriter().transform(response), /UTF-16/);
});
