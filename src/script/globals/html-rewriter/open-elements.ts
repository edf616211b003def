// The stack of open elements, and which of them end at a start or end tag.
import type { ElementState } from "./element.ts";
import { breakoutElements, contentNamespace, endings, type Namespace } from "./html-rules.ts";
import type { Subject } from "./selector.ts";

export interface OpenElement<Listener> extends Subject {
  readonly namespace: Namespace;
  /** Whether an end tag follows. */
  readonly hasContent: boolean;
  /** Requested changes, if a handler matched the element. */
  readonly state: ElementState | undefined;
  /** Handlers that are also active for its content. */
  readonly listeners: readonly Listener[];
}

interface Children {
  count: number;
  byName: Map<string, number> | undefined;
}

export interface OpenElements<Listener> {
  /** From the outermost to the innermost. */
  ancestors(): readonly OpenElement<Listener>[];
  /** Namespace of the next element. */
  namespace(): Namespace;
  /** Number of innermost elements that this start tag closes implicitly. */
  countClosedByStart(name: string): number;
  /** Number of elements that this end tag closes; 0 when no element of that name is open. */
  countClosedByEnd(name: string): number;
  /** Counts a new child of the innermost element. */
  count(name: string): { readonly childIndex: number; readonly typeIndex: number };
  push(element: OpenElement<Listener>): void;
  pop(): OpenElement<Listener>;
}

/** Children are counted by name only when a selector needs it. */
export function createOpenElements<Listener>(countsNames: boolean): OpenElements<Listener> {
  const elements: OpenElement<Listener>[] = [];
  /** Counters of the document and of each open element. */
  const children: Children[] = [noChildren()];
  /** Open elements by name, which answers most lookups. */
  const openByName = new Map<string, number>();

  function namespace(): Namespace {
    const innermost = elements.at(-1);
    return innermost === undefined ? "html" : contentNamespace(innermost.namespace, innermost.tag.name);
  }

  function countClosedByBreakout(): number {
    let index = elements.length;
    while (
      index > 0 &&
      contentNamespace(elements[index - 1]!.namespace, elements[index - 1]!.tag.name) !== "html"
    ) {
      index--;
    }
    return elements.length - index;
  }

  return {
    ancestors: () => elements,
    namespace,
    countClosedByStart(name) {
      if (namespace() !== "html") return breakoutElements.has(name) ? countClosedByBreakout() : 0;
      const ending = endings.get(name);
      if (ending === undefined || !ending.ends.some((endName) => openByName.has(endName))) return 0;
      let closedCount = 0;
      for (let index = elements.length - 1; index >= 0; index--) {
        const element = elements[index]!;
        if (ending.ends.includes(element.tag.name)) closedCount = elements.length - index;
        else if (element.namespace !== "html" || ending.within.has(element.tag.name)) break;
      }
      return closedCount;
    },
    countClosedByEnd(name) {
      if (!openByName.has(name)) return 0;
      return elements.length - elements.findLastIndex((element) => element.tag.name === name);
    },
    count(name) {
      const siblings = children.at(-1)!;
      siblings.count++;
      if (!countsNames) return { childIndex: siblings.count, typeIndex: 0 };
      siblings.byName ??= new Map();
      const typeIndex = (siblings.byName.get(name) ?? 0) + 1;
      siblings.byName.set(name, typeIndex);
      return { childIndex: siblings.count, typeIndex };
    },
    push(element) {
      elements.push(element);
      children.push(noChildren());
      openByName.set(element.tag.name, (openByName.get(element.tag.name) ?? 0) + 1);
    },
    pop() {
      const element = elements.pop()!;
      children.pop();
      const remaining = openByName.get(element.tag.name)! - 1;
      if (remaining === 0) openByName.delete(element.tag.name);
      else openByName.set(element.tag.name, remaining);
      return element;
    },
  };
}

function noChildren(): Children {
  return { count: 0, byName: undefined };
}
