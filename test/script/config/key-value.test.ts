// Key-value namespaces of a configuration: accepted and refused forms.
import assert from "node:assert/strict";
import { test } from "node:test";
import { project } from "../../support/projects.ts";

const least = 'name = "a"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';

function namespaces(...lines: string[]): string {
  return `${least}${lines.map((line) => `[[kv_namespaces]]\n${line}\n`).join("")}`;
}

test("key-value namespaces are parsed from TOML and JSON", async (t) => {
  const { read } = await project(t);
  const expected = [
    { binding: "A", namespace: "0123456789abcdef0123456789abcdef" },
    { binding: "B", namespace: "Sessions_1.a-b" },
  ];
  const toml = namespaces(
    `binding = "A"\nid = "${expected[0]!.namespace}"`,
    'binding = "B"\nid = "Sessions_1.a-b"',
    'binding = "C"',
  );
  const unnamed = { binding: "C", namespace: "C" };
  assert.deepEqual((await read("store.toml", toml)).kvNamespaces, [...expected, unnamed]);
  const json = {
    ...{ name: "a", main: "src/index.ts", compatibility_date: "2026-11-01" },
    kv_namespaces: expected.map(({ binding, namespace }) => ({ binding, id: namespace })),
  };
  assert.deepEqual((await read("store.json", JSON.stringify(json))).kvNamespaces, expected);
  assert.deepEqual((await read("store.toml", least)).kvNamespaces, []);
});

test("errors in key-value namespaces are reported at their position", async (t) => {
  const { refused } = await project(t);
  for (const [text, ...says] of [
    [namespaces('id = "x"'), '"binding" is missing in kv_namespaces'],
    [namespaces('binding = "A"\nid = "a b"'), '"a b" cannot be a namespace', 'id = "settings"'],
    [namespaces('binding = "A"\nid = 1'), "must be a string"],
    [namespaces('binding = "A"\nid = "x"\npreview_id = "y"'), '"preview_id" is not a key of kv_namespaces'],
    [namespaces('binding = "A"\nid = "x"\nname = "y"'), '"name" is not a key of kv_namespaces'],
    [namespaces('binding = "a-b"\nid = "x"'), "a binding is"],
    [
      namespaces('binding = "A"\nid = "x"', 'binding = "A"\nid = "y"'),
      '"A" is already the name of a KV binding, on line 5.',
    ],
    [`${namespaces('binding = "A"\nid = "x"')}[vars]\nA = 1\n`, "already the name of a KV binding"],
    [`${least}kv_namespaces = "x"\n`, '"kv_namespaces" must be a list', "[[kv_namespaces]]"],
  ] as const) {
    const { message } = await refused("store.toml", text);
    for (const said of says) assert.ok(message.includes(said), `${said} in:\n${message}`);
  }
});
