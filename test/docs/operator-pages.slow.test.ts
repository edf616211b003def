// Runs every command of the pages for operators and compares its output with the page.
import { test } from "node:test";
import { playPage } from "./page/terminal-page.ts";

for (const page of ["operating.md", "quick-start.md", "encryption.md", "access.md"]) {
  test(`every command in docs/${page} prints the output shown`, (t) => playPage(t, page));
}
