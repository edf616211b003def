// A text as its handlers see it: piece by piece as it arrives, never with half a character, and with an empty
// piece at its end.
import { call, type Handler } from "./html-rewriter-audience.ts";
import { noChanges, Text, written } from "./html-rewriter-content.ts";
import { textFromBytes, unfinishedCharacter } from "./html-rewriter-text.ts";

export interface TextNode {
  isOpen(): boolean;
  add(bytes: string): Promise<void>;
  end(): Promise<void>;
}

export function createTextNode(handlers: () => readonly Handler[], emit: (bytes: string) => void): TextNode {
  let isOpen = false;
  let unfinished = "";

  async function pass(bytes: string, isLast: boolean): Promise<void> {
    const changes = noChanges();
    const text = textFromBytes(bytes);
    for (const handler of handlers()) await call(handler, new Text(changes, text, isLast));
    emit(written(bytes, changes));
  }

  return {
    isOpen: () => isOpen,
    async add(raw) {
      isOpen = true;
      const bytes = unfinished + raw;
      const end = bytes.length - unfinishedCharacter(bytes);
      unfinished = bytes.slice(end);
      if (end > 0) await pass(bytes.slice(0, end), false);
    },
    async end() {
      if (unfinished !== "") await pass(unfinished, false);
      await pass("", true);
      isOpen = false;
      unfinished = "";
    },
  };
}
