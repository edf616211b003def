// Browser tests of roles: sign-in with an OpenID provider, a viewer who cannot delete, and sessions.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { clientId, clientSecret, startRealProvider } from "../../oidc/real-provider.ts";
import { looksRight, picture } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

const accounts = { anna: ["storage-admins"], bert: ["photos-team"], carl: ["visitors"] };

inBrowser("Roles", async (t, browser) => {
  const { issuer } = await startRealProvider(t, accounts);
  const scene = await consoleScene(t, browser, {
    async prepare({ directory }) {
      const file = join(directory, "providers.toml");
      await writeFile(
        file,
        `[[providers]]
name = "company"
title = "Company account"
issuer = "${issuer}"
client_id = "${clientId}"
client_secret_env = "CONSOLE_SECRET"
scopes = ["profile", "groups"]

[providers.roles]
storage-admins = "administrator"
photos-team = "photos:editor"
`,
      );
      return { args: ["--console-oidc", file], environment: { CONSOLE_SECRET: clientSecret } };
    },
  });
  for (const bucket of ["photos", "reports"]) {
    await scene.engine.createBucket(bucket);
    await scene.put(bucket, "2026/summer.txt", "sun", { httpMetadata: { contentType: "text/plain" } });
  }
  const createToken = async (...options: string[]) => {
    const made = await scene.scene.shell.store(
      "console",
      "token",
      ...options,
      "--data",
      scene.data,
      "--json",
    );
    return (JSON.parse(made) as { token: string }).token;
  };
  const hidden = async (page: Page, names: readonly RegExp[]) => {
    for (const name of names) assert.equal(await page.getByRole("button", { name }).count(), 0, String(name));
  };
  /** Signs in at the provider with its own forms. */
  const signInAsUser = async (account: string) => {
    const { page, context } = await scene.openSignedOut();
    // Under another name than the provider, so that the browser treats them as different sites.
    await page.goto(scene.url.replace("127.0.0.1", "localhost"));
    await page.getByRole("button", { name: "Sign in with Company account" }).click();
    await page.locator('input[name="login"]').fill(account);
    await page.locator('input[name="password"]').fill("any");
    await page.locator('button[type="submit"]').click();
    await page.locator('form[action*="/interaction/"] button[type="submit"]').click();
    return { page, context };
  };

  await t.test("the sign-in page offers the provider besides tokens", async () => {
    const { page } = await scene.openSignedOut();
    await page.goto(scene.url);
    await page.getByRole("button", { name: "Sign in with Company account" }).waitFor();
    await looksRight(page, "sign-in-provider");
  });

  await t.test("a user of the provider signs in and sees the buckets of the user's group", async () => {
    const { page, context } = await signInAsUser("bert");
    await page.getByRole("link", { name: "photos", exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "reports", exact: true }).count(), 0);
    assert.equal(new URL(page.url()).pathname, "/");
    assert.ok(!/code=|state=/.test(page.url()), page.url());
    const cookies = (await context.cookies()).filter(({ name }) => name.startsWith("__Host-store"));
    assert.deepEqual(
      cookies.map(({ secure, httpOnly, sameSite }) => ({ secure, httpOnly, sameSite })),
      [{ secure: true, httpOnly: true, sameSite: "Strict" }],
    );
    await page.reload();
    await page.getByRole("link", { name: "photos", exact: true }).waitFor();
    assert.equal(await page.getByRole("navigation").getByRole("link", { name: "Keys" }).count(), 0);
    await hidden(page, [/^Create bucket/]);
    await page.getByRole("button", { name: "Actions for photos" }).click();
    await page.getByRole("menuitem", { name: "Empty…" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Delete…" }).count(), 0);
    await page.keyboard.press("Escape");
    await looksRight(page, "buckets-of-a-group");
  });

  await t.test("a user without a role is refused with a message", async () => {
    const { page } = await signInAsUser("carl");
    await page.getByRole("alert").getByText("carl may not use this console").waitFor();
    await picture(page, "sign-in-refused");
  });

  await t.test("a viewer sees everything, but cannot change or delete", async () => {
    const token = await createToken("--name", "wall", "--role", "viewer");
    const page = await scene.open("#/buckets", { signInWith: token });
    await page.getByRole("link", { name: "reports", exact: true }).waitFor();
    await hidden(page, [/^Create bucket/]);
    await page.getByRole("button", { name: "Actions for photos" }).click();
    assert.equal(await page.getByRole("menuitem", { name: /^(Empty|Delete)/ }).count(), 0);
    await page.keyboard.press("Escape");
    await looksRight(page, "buckets-of-a-viewer");
    const objects = await scene.open("#/objects?bucket=photos&view=flat", { signInWith: token });
    await objects.getByText("2026/summer.txt").waitFor();
    await hidden(objects, [/^Upload/, /^Delete/, /^New folder/]);
    await objects.getByRole("checkbox", { name: "Select 2026/summer.txt" }).check();
    await objects.getByRole("button", { name: "Download" }).waitFor();
    await hidden(objects, [/^Move or copy/, /^More actions/]);
    await looksRight(objects, "objects-of-a-viewer");
    const object = await scene.open("#/object?bucket=photos&key=2026%2Fsummer.txt", { signInWith: token });
    await object.getByRole("link", { name: "Download" }).waitFor();
    await hidden(object, [/^Delete/, /^Edit/, /^Signed link/]);
    await looksRight(object, "object-of-a-viewer");
    const settings = await scene.open("#/rules?bucket=photos", { signInWith: token });
    await settings.getByText("Your role can view these settings, but not change them.").waitFor();
    assert.equal(await settings.getByLabel("State").isDisabled(), true);
    await looksRight(settings, "settings-of-a-viewer");
    // A page that is not offered says why if its address is typed.
    const keys = await scene.open("#/keys", { signInWith: token });
    await keys.getByText("it needs administrator for the whole store").waitFor();
    await picture(keys, "refused-page");
    const status = await keys.evaluate<number>(`fetch("/api/objects/delete", {
      method: "POST",
      headers: { "x-store-console": "1" },
      body: JSON.stringify({ bucket: "photos", keys: ["2026/summer.txt"] }),
    }).then(({ status }) => status)`);
    assert.equal(status, 403);
    assert.notEqual(await scene.engine.head("photos", "2026/summer.txt"), undefined);
  });

  await t.test("an administrator ends the session of a user, whose page then asks to sign in", async () => {
    await scene.scene.shell.store("user", "create", "dora", "--role", "editor", "--data", scene.data);
    const token = await createToken("--user", "dora");
    const page = await scene.open("#/sessions", { signInWith: token });
    await page.getByText("Where you are signed in.").waitFor();
    assert.equal(await page.getByRole("row").count(), 2);
    const administrator = await scene.open("#/sessions");
    await administrator.getByRole("rowheader", { name: "dora" }).waitFor();
    await looksRight(administrator, "sessions");
    await administrator.getByRole("button", { name: /^End session .* of dora/ }).click();
    await administrator.getByRole("dialog").getByRole("button", { name: "End session" }).click();
    await administrator.getByText("Ended the session of dora.").waitFor();
    await page.goto(`${scene.url}/#/buckets`);
    await page.getByLabel("Token", { exact: true }).waitFor();
  });

  await t.test("a change of a user's role takes effect without a new sign-in", async () => {
    const page = await scene.open("#/buckets", { signInWith: await createToken("--user", "dora") });
    const menu = page.getByRole("button", { name: "Actions for photos" });
    await menu.click();
    await page.getByRole("menuitem", { name: "Empty…" }).waitFor();
    await scene.scene.shell.store("user", "change", "dora", "--role", "viewer", "--data", scene.data);
    await page.reload();
    await page.getByRole("link", { name: "photos", exact: true }).waitFor();
    await menu.click();
    await page.getByRole("menuitem", { name: "Settings" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Empty…" }).count(), 0);
  });
});
