// Runs every command in docs/cli.md in a terminal and compares its output with the page.
import { test } from "node:test";
import { playPage } from "./page/terminal-page.ts";

test("every command in docs/cli.md prints the output shown", (t) => playPage(t, "cli.md"));
