// Uses a page with the keyboard alone.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";

export interface Keyboard {
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Presses Tab until the element with this accessible name has the focus. */
  tabTo(name: string): Promise<void>;
}

const maxTabs = 60;
const focusedName = `(() => {
  const { ariaLabel, labels, textContent } = document.activeElement;
  return (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim();
})()`;

export function keyboardOf(page: Page): Keyboard {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  return {
    press,
    type: (text) => page.keyboard.type(text),
    async tabTo(name) {
      const isThere = async () => (await page.evaluate<string>(focusedName)) === name;
      for (let i = 0; i < maxTabs && !(await isThere()); i++) await press("Tab");
      assert.ok(await isThere(), `${name} is reached by the tab key`);
    },
  };
}
