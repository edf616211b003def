// Browser tests of signing in with the link that `dev` prints and with a typed token.
import assert from "node:assert/strict";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

inBrowser("Signing in", async (t, browser) => {
  const scene = await consoleScene(t, browser);

  await t.test("the link that store dev prints signs in, and its token is removed from the URL", async () => {
    const { page, context } = await scene.openSignedOut();
    await page.goto(`${scene.url}/#token=${scene.token}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.ok(!page.url().includes(scene.token), page.url());
    const [cookie] = await context.cookies();
    assert.match(cookie!.name, /^__Host-store-console-\d+$/);
    const { secure, httpOnly, sameSite, path, domain } = cookie!;
    assert.deepEqual(
      { secure, httpOnly, sameSite, path, domain },
      { secure: true, httpOnly: true, sameSite: "Strict", path: "/", domain: "127.0.0.1" },
    );
    assert.equal(await page.evaluate("document.cookie"), "");
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    await page.reload();
    await page.getByLabel("Token", { exact: true }).waitFor();
    assert.deepEqual(await context.cookies(), []);
  });

  await t.test("a link of another user asks before it replaces the session", async () => {
    const made = await scene.scene.shell.store("console", "token", "--data", scene.data, "--json");
    const { token } = JSON.parse(made) as { token: string };
    const { page } = await scene.openSignedOut();
    await page.goto(`${scene.url}/#token=${scene.token}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const open = async () => {
      await page.goto(`${scene.url}/#token=${token}`);
      await page.getByRole("heading", { name: "Use this sign-in link?" }).waitFor();
      assert.ok(!page.url().includes(token), page.url());
    };
    await open();
    await looksRight(page, "sign-in-link");
    await page.getByRole("button", { name: "Stay signed in" }).click();
    await page.getByRole("button", { name: "Account of store dev" }).waitFor();
    await open();
    await page.getByRole("button", { name: "Use the link" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Account of store dev" }).count(), 0);
  });

  await t.test("a wrong token is refused with a message, and a valid token signs in", async () => {
    const made = await scene.scene.shell.store("console", "token", "--data", scene.data, "--json");
    const { token, id } = JSON.parse(made) as { token: string; id: string };
    const { page } = await scene.openSignedOut();
    await page.goto(scene.url);
    await looksRight(page, "sign-in");
    await page.getByLabel("Token", { exact: true }).fill(`${token.slice(0, -3)}abc`);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This token is invalid, expired or revoked").waitFor();
    await page.getByLabel("Token", { exact: true }).fill(token);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await scene.scene.shell.store("console", "revoke", id, "--data", scene.data);
    await page.reload();
    await page.getByLabel("Token", { exact: true }).waitFor();
  });
});
