// The file of --console-oidc: what it can contain, and how its faults are reported.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Invocation } from "../../../../src/cli/framework/command.ts";
import { providerSettings } from "../../../../src/cli/serve/oidc/providers.ts";
import { temporaryDirectory } from "../../../support/stores.ts";
import { root } from "../../store.ts";

interface Given {
  readonly environment?: Readonly<Record<string, string>>;
  readonly secretFile?: string;
}

async function read(t: TestContext, text: string, { environment = {}, secretFile }: Given = {}) {
  const directory = await temporaryDirectory(t);
  await writeFile(join(directory, "providers.toml"), text);
  if (secretFile !== undefined) await writeFile(join(directory, "secret"), secretFile);
  const options = { text: () => "providers.toml" } as unknown as Invocation["options"];
  return providerSettings({ options, directory, environment } as Invocation);
}

const complete = `[[providers]]
name = "company"
title = "Company account"
issuer = "https://login.example.com/main"
client_id = "store-console"
client_secret_env = "CONSOLE_SECRET"
scopes = ["email", "groups"]
group_claim = "teams"

[providers.roles]
storage-admins = "administrator"
photos-team = ["photos:editor", "viewer"]
`;

test("a complete file is read, with the client secret from the environment", async (t) => {
  const [provider] = await read(t, complete, { environment: { CONSOLE_SECRET: "s" } });
  assert.deepEqual(provider, {
    ...{ name: "company", title: "Company account", issuer: "https://login.example.com/main" },
    ...{ clientId: "store-console", clientSecret: "s", scopes: ["email", "groups"], groupClaim: "teams" },
    groups: new Map([
      ["storage-admins", { role: "administrator" }],
      ["photos-team", { role: "viewer", buckets: { photos: "editor" } }],
    ]),
  });
});

test("the file in docs/console.md can be read", async (t) => {
  const page = await readFile(join(root, "docs", "console.md"), "utf8");
  const [, text = ""] = /^```toml\n(.*?)^```$/ms.exec(page) ?? [];
  const [provider] = await read(t, text, { environment: { CONSOLE_CLIENT_SECRET: "s" } });
  assert.deepEqual(provider!.groups.get("photos-team"), { buckets: { photos: "editor", reports: "viewer" } });
  const rows = [...page.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm)].map(([, row]) => row!).join();
  for (const [key] of text.matchAll(/^\w+(?= = )/gm))
    assert.ok(rows.includes(`\`${key}\``) || /photos|storage/.test(key), key);
});

test("the client secret can be in a file next to the providers, and the rest has defaults", async (t) => {
  const text = `[[providers]]
name = "a"
issuer = "http://localhost:8080"
client_id = "c"
client_secret_file = "secret"
roles = { staff = "viewer" }
`;
  const [provider] = await read(t, text, { secretFile: "from a file\n" });
  assert.equal(provider!.clientSecret, "from a file");
  assert.equal(provider!.title, "a");
  assert.equal(provider!.groupClaim, "groups");
  assert.deepEqual(provider!.scopes, ["profile", "email"]);
  const [open] = await read(t, text.replace(/client_secret_file.*\n/, ""));
  assert.equal(open!.clientSecret, undefined);
});

test("every fault of the file is reported with its line", async (t) => {
  const secret = { environment: { CONSOLE_SECRET: "s" } };
  const cases: readonly [string, RegExp, Given?][] = [
    [complete, /CONSOLE_SECRET is not set/, {}],
    [complete.replace("https:", "http:"), /"issuer" must start with https/],
    [complete.replace("/main", "/?a=b"), /must not have a query/],
    [complete.replace('"store-console"', "7"), /client_id.* must be a string/],
    [complete.replace('name = "company"', 'name = "The Company"'), /lowercase letters/],
    [complete.replace("issuer", "isuer"), /did you mean issuer/],
    [complete.replace('"administrator"', '"admin"'), /must be viewer, editor or administrator, not "admin"/],
    [complete.replace("photos:editor", "Photos!:editor"), /BUCKET:ROLE/],
    [complete.slice(0, complete.indexOf("[providers.roles]")), /"roles" is missing/],
    [complete + complete, /two providers named "company"/],
    [complete.replace("client_id", 'client_secret_file = "secret"\nclient_id'), /once/],
    [complete.replace('_env = "CONSOLE_SECRET"', '_file = "missing"'), /Cannot read missing: ENOENT/],
    ["", /"providers" is missing/],
    ["providers = 7", /must be a list/],
    ["[[providers", /providers.toml/],
  ];
  for (const [text, message, given = secret] of cases) {
    await assert.rejects(read(t, text, given), (error: Error) => {
      assert.equal(error.name, "ConfigError", String(error.stack));
      assert.match(error.message, message);
      assert.ok(!error.message.includes("from a file"));
      return true;
    });
  }
});
