// HTMLRewriter: elements, their attributes, and content inserted around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "../installed.ts";
import { type Element, onElements } from "./rewriting.ts";

const each = (html: string, element: (element: Element) => unknown) => onElements(html, "x", element);

test("HTMLRewriter returns attributes of an element as written in the document", async () => {
  const seen: unknown[] = [];
  await each(`<X a="1" B='two' c=3 d e= "f" g="&amp;" ü="ö">`, (element) => {
    seen.push(element.tagName, [...element.attributes], element.getAttribute("B"), element.getAttribute("D"));
    seen.push(element.getAttribute("missing"), element.hasAttribute("G"), element.hasAttribute("h"));
    seen.push(element.getAttribute("ü"), element.namespaceURI);
  });
  assert.deepEqual(seen, [
    "x",
    [
      ["a", "1"],
      ["b", "two"],
      ["c", "3"],
      ["d", ""],
      ["e", "f"],
      ["g", "&amp;"],
      ["ü", "ö"],
    ],
    "two",
    "",
    null,
    true,
    false,
    "ö",
    "http://www.w3.org/1999/xhtml",
  ]);
});

test("setAttribute changes the attribute in place and leaves the rest of the tag unchanged", async () => {
  const set = (html: string, name: string, value: string) =>
    each(html, (element) => assert.equal(element.setAttribute(name, value), element));
  assert.equal(await set("<X  A=1   b='2' >", "a", "3"), `<X  A="3"   b='2' >`);
  assert.equal(await set("<x a b>", "a", "3"), `<x a="3" b>`);
  assert.equal(await set("<x/>", "a", "1"), `<x a="1"/>`);
  assert.equal(await set("<x b=2>", "A", `"ü" & <`), `<x b=2 A="&quot;ü&quot; & <">`);
  assert.equal(await set("<x a=1 a=2>", "a", "3"), `<x a="3" a=2>`);
  assert.equal(await set("<x a='1'b>", "a", "3"), `<x a="3" b>`);
});

test("removeAttribute removes the attribute and the space before it", async () => {
  const remove = (html: string, name: string) => each(html, (element) => element.removeAttribute(name));
  assert.equal(await remove(`<x a="1" b="2" c>`, "B"), `<x a="1" c>`);
  assert.equal(await remove(`<x a=1 b="2"/>`, "b"), "<x a=1 />");
  assert.equal(await remove(`<x a="1"b="2">`, "a"), `<x b="2">`);
  assert.equal(await remove("<x a=1 a=2>", "a"), "<x>");
  assert.equal(await remove("<X  A = 1 >", "z"), "<X  A = 1 >");
});

test("reading an attribute after a change returns the new value", async () => {
  await each("<x a=1>", (element) => {
    element.setAttribute("b", "2").removeAttribute("a");
    assert.deepEqual([...element.attributes], [["b", "2"]]);
    assert.equal(element.getAttribute("a"), null);
  });
});

test("invalid attribute and tag names throw a TypeError", async () => {
  await each("<x>", (element) => {
    for (const name of ["", "a b", "a=", "a>", "a/"]) {
      assert.throws(() => element.setAttribute(name, ""), TypeError);
    }
    for (const name of ["", "1a", "a b", "a>", "a/"]) {
      assert.throws(() => {
        element.tagName = name;
      }, TypeError);
    }
  });
});

test("renaming an element renames its end tag", async () => {
  const rename = (element: Element) => {
    element.tagName = "y";
    assert.equal(element.tagName, "y");
  };
  assert.equal(await each("<x a=1><b></X ></x>", rename), "<y a=1><b></y></x>");
});

test("HTMLRewriter inserts content before and after an element, and at its start and end", async () => {
  const html = await each("<x>inner</x>", (element) => {
    element.before("1").before("2").after("8").after("7");
    element.prepend("4").prepend("3").append("5").append("6");
  });
  assert.equal(html, "12<x>34inner56</x>78");
});

test("content that HTMLRewriter inserts is escaped as text unless html is true", async () => {
  const put = async (options: { html?: boolean } | null | undefined) =>
    each("<x></x>", (element) => element.append(`<b>"&ü`, options));
  for (const options of [undefined, null, {}, { html: false }]) {
    assert.equal(await put(options), `<x>&lt;b&gt;"&amp;ü</x>`);
  }
  assert.equal(await put({ html: true }), `<x><b>"&ü</x>`);
});

test("HTMLRewriter can replace or remove an element, only its content or only its tags", async () => {
  const html = "a<x>b<i>c</i></x>d";
  assert.equal(await each(html, (element) => element.setInnerContent("<n>")), "a<x>&lt;n&gt;</x>d");
  assert.equal(await each(html, (element) => element.setInnerContent("<n>", { html: true })), "a<x><n></x>d");
  assert.equal(await each(html, (element) => element.replace("<n>", { html: true })), "a<n>d");
  assert.equal(await each(html, (element) => element.remove()), "ad");
  assert.equal(await each(html, (element) => element.removeAndKeepContent()), "ab<i>c</i>d");
});

test("content inserted before and after an element stays when the element is removed", async () => {
  const html = await each("<x>y</x>", (element) => {
    assert.equal(element.removed, false);
    element.before("1").after("2").prepend("no").append("no").remove();
    assert.equal(element.removed, true);
  });
  assert.equal(html, "12");
  const kept = await each("<x>y</x>", (element) => element.removeAndKeepContent().prepend("1").append("2"));
  assert.equal(kept, "1y2");
});

test("if an HTMLRewriter handler replaces an element several times, the last replacement applies", async () => {
  const html = await each("<x>y</x>", (element) => element.replace("a").replace("b").before("<").after(">"));
  assert.equal(html, "&lt;b&gt;");
  const inner = await each("<x>y</x>", (element) => element.append("no").setInnerContent("a").append("b"));
  assert.equal(inner, "<x>ab</x>");
});

test("HTMLRewriter inserts no content into a void element such as br, and onEndTag throws a TypeError", async () => {
  const html = await onElements("a<br>b<img/>c", "br, img", (element) => {
    element.before("(").after(")").prepend("no").append("no").setInnerContent("no");
    assert.throws(() => element.onEndTag(() => {}), TypeError);
  });
  assert.equal(html, "a(<br>)b(<img/>)c");
  assert.equal(await onElements("a<br>b", "br", (element) => element.replace("-").after("+")), "a-+b");
});

test("the end tag handler of HTMLRewriter runs after the content, and can change the end tag", async () => {
  const order: string[] = [];
  const html = await new script.HTMLRewriter()
    .on("x", {
      element(element: Element) {
        order.push("start");
        element.append("2");
        element.onEndTag((tag) => {
          order.push(`end ${tag.name}`);
          tag.before("3").after("5").after("4");
        });
        element.onEndTag((tag) => {
          tag.name = "z";
          assert.equal(tag.name, "z");
        });
      },
    })
    .on("b", { element: () => order.push("b") })
    .transform(new script.Response("<x>1<b></b></X>"))
    .text();
  assert.equal(html, "<x>1<b></b>23</z>45");
  assert.deepEqual(order, ["start", "b", "end x"]);
  const removed = await each("<x>1</x>2", (element) => element.onEndTag((tag) => tag.remove()));
  assert.equal(removed, "<x>12");
});

test("HTMLRewriter handlers run in order of registration and see earlier changes", async () => {
  const html = await new script.HTMLRewriter()
    .on("x", { element: (element: Element) => element.setAttribute("a", "1").append("1") })
    .on("*", { element: (element: Element) => element.setAttribute("a", `${element.getAttribute("a")}2`) })
    .on("x", { element: (element: Element) => element.append("3") })
    .transform(new script.Response("<x></x>"))
    .text();
  assert.equal(html, `<x a="12">13</x>`);
});

test("HTMLRewriter handlers are called for elements in removed elements, but cannot restore them", async () => {
  let seen = 0;
  const html = await new script.HTMLRewriter()
    .on("x", { element: (element: Element) => element.remove() })
    .on("b", {
      element(element: Element) {
        seen++;
        assert.equal(element.removed, true);
        element
          .before("no")
          .after("no")
          .append("no")
          .onEndTag((tag) => tag.after("no"));
      },
    })
    .transform(new script.Response("a<x><b></b></x>c"))
    .text();
  assert.deepEqual([html, seen], ["ac", 1]);
});

test("HTMLRewriter handles nested elements with the same name separately", async () => {
  let depth = 0;
  const html = await each("<x><x></x></x>", (element) => element.append(String(++depth)).after("!"));
  assert.equal(html, "<x><x>2</x>!1</x>!");
});

test("using an element after its HTMLRewriter handler has ended throws an error", async () => {
  let kept: Element;
  await each("<x>", (element) => {
    kept = element;
  });
  assert.throws(() => kept.tagName, /while its handler runs/);
  assert.throws(() => kept.setAttribute("a", "b"), TypeError);
});

test("inserting content that is not a string fails with a message that suggests response.text()", async () => {
  const stream = each("<x>", (element) => element.append(new ReadableStream() as never));
  await assert.rejects(stream, /await response\.text\(\)/);
});

test("HTMLRewriter handlers are called with their object as this", async () => {
  class Counter {
    count = 0;
    element(): void {
      this.count++;
    }
  }
  const counter = new Counter();
  await new script.HTMLRewriter().on("x", counter).transform(new script.Response("<x><x>")).text();
  assert.equal(counter.count, 2);
  assert.throws(() => new script.HTMLRewriter().on("x", undefined as never), TypeError);
  assert.throws(() => new script.HTMLRewriter().on("x", { element: 5 }), /"element"/);
  assert.throws(() => new script.HTMLRewriter().onDocument(null as never), TypeError);
});
