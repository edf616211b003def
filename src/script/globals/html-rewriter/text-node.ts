// A text node as its handlers see it: chunks as they arrive, always with complete characters, and
// an empty chunk at the end.
import { applyChanges, noChanges, Text } from "./content.ts";
import { textFromBytes, unfinishedCharacter } from "./encoding.ts";
import { call, type Handler } from "./handlers.ts";

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
    emit(applyChanges(bytes, changes));
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
