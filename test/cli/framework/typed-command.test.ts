// Commands in messages are shown as the user has to type them: with or without npx.
import assert from "node:assert/strict";
import { test } from "node:test";
import { typedCommands } from "../../../src/cli/framework/typed-command.ts";

const commands = ["bucket", "dev"];

test("messages of a global installation or a clone show commands that start with store", () => {
  for (const program of ["/usr/local/bin/store", "/src/store/dist/cli/main.js", ""]) {
    const typed = typedCommands(program, commands);
    assert.equal(typed("Create it: store bucket create photos"), "Create it: store bucket create photos");
  }
});

test("messages of a package in a project or in npx's cache show commands that start with npx", () => {
  for (const folder of ["/home/me/project", "/home/me/.npm/_npx/1a2b"]) {
    const typed = typedCommands(`${folder}/node_modules/.bin/store`, commands);
    assert.equal(
      typed("Create it: store bucket create photos"),
      "Create it: npx store-server bucket create photos",
    );
    assert.equal(
      typed("date | store dev\n  store dev"),
      "date | npx store-server dev\n  npx store-server dev",
    );
    assert.equal(typed("List all commands: store --help"), "List all commands: npx store-server --help");
    assert.equal(
      typed("The store is in .store developed by store"),
      "The store is in .store developed by store",
    );
  }
});
