// The stack of open elements. Determines which of them a start or end tag closes.
import type { ElementState } from "./element.ts";
import { breakoutElements, contentNamespace, endings, type Namespace } from "./html-rules.ts";
import type { Subject } from "./selector.ts";

export interface OpenElement<Listener> extends Subject {
  readonly namespace: Namespace;
  /** Whether the element has content and an end tag. */
  readonly hasContent: boolean;
  /** Changes requested by handlers; undefined if no handler matched the element. */
  readonly state: ElementState | undefined;
  /** Handlers that are active for the element's content. */
  readonly listeners: readonly Listener[];
}

interface Children {
  count: number;
  byName: Map<string, number> | undefined;
}

export interface OpenElements<Listener> {
  /** Open elements, from the outermost to the innermost. */
  ancestors(): readonly OpenElement<Listener>[];
  /** Namespace of the next element. */
  namespace(): Namespace;
  /** Number of innermost elements that this start tag implicitly closes. */
  countClosedByStart(name: string): number;
  /** Number of elements that this end tag closes; 0 when no element of this name is open. */
  countClosedByEnd(name: string): number;
  /** Counts a new child of the innermost element. */
  count(name: string): { readonly childIndex: number; readonly typeIndex: number };
  push(element: OpenElement<Listener>): void;
  pop(): OpenElement<Listener>;
}

/** `countsNames`: whether children are also counted by name, which only some selectors need. */
export function createOpenElements<Listener>(countsNames: boolean): OpenElements<Listener> {
  const elements: OpenElement<Listener>[] = [];
  /** Child counters of the document and of each open element. */
  const children: Children[] = [noChildren()];
  /** Number of open elements by name. Most lookups need only this map, not the stack. */
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
