// Uses a page with the keyboard alone.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";

export interface Keyboard {
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Presses Tab until the element with this accessible name has the focus. */
  tabTo(name: string | RegExp, options?: TabOptions): Promise<void>;
}

export interface TabOptions {
  /** Selector of an element that contains the wanted element. */
  readonly within?: string;
  /** Default: "Tab". */
  readonly key?: "Tab" | "Shift+Tab";
}

const maxTabs = 120;

interface Focused {
  readonly name: string;
  readonly isWithin: boolean;
}

function focused(within: string): string {
  return `(() => {
    const { ariaLabel, labels, textContent } = document.activeElement;
    const name = (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim();
    return { name, isWithin: document.activeElement.closest(${JSON.stringify(within)}) !== null };
  })()`;
}

export function keyboardOf(page: Page): Keyboard {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  return {
    press,
    type: (text) => page.keyboard.type(text),
    async tabTo(name, { within = "html", key = "Tab" } = {}) {
      const isThere = async () => {
        const found = await page.evaluate<Focused>(focused(within));
        return found.isWithin && (typeof name === "string" ? found.name === name : name.test(found.name));
      };
      for (let i = 0; i < maxTabs && !(await isThere()); i++) await press(key);
      assert.ok(await isThere(), `${name} is reached by ${key}`);
    },
  };
}
