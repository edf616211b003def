// Screenshots of pages in both themes and widths, each after an accessibility check with axe.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { root } from "../cli/store.ts";

const folder = join(root, "build", "console");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}

/** Asserts that the page has no accessibility violations. */
export async function isAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(axe);
  const findings = await page.evaluate<Finding[]>("axe.run().then(({ violations }) => violations)");
  const violations = findings.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${impact}): ${help}\n  ${html}\n  ${failureSummary}`),
  );
  assert.deepEqual(violations, [], name);
}

const phone = { width: 360, height: 740 };

/** Checks the current page and takes screenshots in both themes and widths. */
export async function looksRight(page: Page, name: string): Promise<void> {
  const wide = page.viewportSize()!;
  for (const [width, size] of [["wide", wide] as const, ["phone", phone] as const]) {
    await page.setViewportSize(size);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      // Colours do not depend on the width, so each theme and each width is checked once.
      if ((width === "wide") === (colorScheme === "dark"))
        await isAccessible(page, `${name}, ${width}, ${colorScheme}`);
      await picture(page, `${name}-${width}-${colorScheme}`);
      const overhang = await page.evaluate<number>(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      assert.ok(overhang <= 0, `${name}, ${width}: the page is ${overhang} pixels wider than the screen`);
    }
  }
  await page.setViewportSize(wide);
  await page.emulateMedia({ colorScheme: "light" });
}
