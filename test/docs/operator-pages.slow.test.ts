// Runs every command of the pages for operators, and compares the output with the page.
import { test } from "node:test";
import { playPage } from "./terminal-page.ts";

for (const page of ["operating.md", "quick-start.md"]) {
  test(`every command shown in docs/${page} does what is shown`, (t) => playPage(t, page));
}
