// Browser tests of the scripts page.
import assert from "node:assert/strict";
import { looksRight } from "../appearance.ts";
import { inBrowser } from "../browser.ts";
import { consoleScene } from "../scene.ts";

const source = `
interface Thing { readonly name: string }
function fails(thing: Thing): never {
  throw new TypeError(\`This is <b>wrong</b>: \${thing.name}\`);
}
export default {
  fetch(request: Request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/fails") fails({ name: "on purpose" });
    console.log(\`asked for \${pathname}\`);
    return new Response("ok");
  },
};`;

inBrowser("Scripts", async (t, browser) => {
  const scene = await consoleScene(t, browser, { source });

  await t.test(
    "the scripts page shows bindings, live log lines and errors with source positions, and restarts a script",
    async () => {
      const page = await scene.open("#/scripts");
      const card = page.getByRole("region", { name: "script", exact: true });
      await card.getByText("env.BUCKET → bucket").waitFor();
      const log = page.getByRole("log", { name: "Log" });
      await page.getByText("Waiting for lines…").waitFor();
      await scene.server.ask("/one");
      await log.getByText("asked for /one").waitFor();
      await scene.server.ask("/two");
      await log.getByText("asked for /two").waitFor();
      await page.getByLabel("Filter").fill("TWO");
      await page.getByText("1 of 2 lines").waitFor();
      assert.equal(await log.getByText("asked for /one").isVisible(), false);
      await page.getByLabel("Filter").fill("");

      await scene.server.ask("/fails");
      const fault = page.getByRole("group").filter({ hasText: "This is <b>wrong</b>: on purpose" });
      await fault.locator("summary").focus();
      await page.keyboard.press("Enter");
      // The console shows the position in the original source, not in the bundle.
      await fault.getByText(/src\/index\.ts:4:9/).waitFor();
      await page.getByLabel("Errors only").check();
      assert.equal(await log.getByText("asked for /one").isVisible(), false);
      await looksRight(page, "scripts");

      await card.getByRole("button", { name: "Restart script" }).focus();
      await page.keyboard.press("Enter");
      await page.getByText("Restarted script script.").waitFor();
      await scene.server.told(/Script "script" was restarted in/);
      assert.equal((await scene.server.ask("/three")).text, "ok");
      await page.getByLabel("Errors only").uncheck();
      await log.getByText("asked for /three").waitFor();
    },
  );

  await t.test("a secret is added and deleted, and its value is never shown", async () => {
    const page = await scene.open("#/scripts");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Add secret" }).click();
    await dialog.getByLabel("Name").fill("BUCKET");
    await dialog.getByLabel("Value").fill("not to be seen");
    await dialog.getByRole("button", { name: "Save secret" }).click();
    await dialog.getByRole("alert").getByText("env.BUCKET is already a bucket binding").waitFor();
    await dialog.getByLabel("Name").fill("AUTH_KEY");
    await looksRight(page, "secret-add");
    await dialog.getByRole("button", { name: "Save secret" }).click();
    await page.getByText("env.AUTH_KEY", { exact: true }).waitFor();
    assert.ok(!(await page.content()).includes("not to be seen"));
    await page.getByRole("button", { name: "Actions for secret AUTH_KEY" }).click();
    await page.getByRole("menuitem", { name: "Delete secret" }).click();
    await dialog.getByRole("button", { name: "Delete secret" }).click();
    await page.getByText("Deleted AUTH_KEY of script script.").waitFor();
    await page.getByText("env.AUTH_KEY", { exact: true }).waitFor({ state: "detached" });
  });

  await t.test("the console shows why a script was not restarted, and the script keeps running", async () => {
    const page = await scene.open("#/scripts");
    await scene.scene.write("store.toml", "name = ");
    await page.getByRole("button", { name: "Restart script" }).click();
    await page.getByText(/store\.toml:1:\d.*The previous version keeps running\./s).waitFor();
    assert.equal((await scene.server.ask("/four")).text, "ok");
  });
});
