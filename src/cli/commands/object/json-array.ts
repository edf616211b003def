// Prints one JSON array page by page, with one entry on each line.
import type { Output } from "../../framework/output.ts";

export interface JsonArray {
  print(entries: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

export function createJsonArray(output: Output): JsonArray {
  let separator = "[\n";
  return {
    async print(entries) {
      let text = "";
      for (const entry of entries) {
        text += separator + JSON.stringify(entry);
        separator = ",\n";
      }
      if (text !== "") await output.write(text);
    },
    async end() {
      await output.write(separator === "[\n" ? "[]\n" : "\n]\n");
    },
  };
}
