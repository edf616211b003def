// A view of a configuration under other paths: one environment of the file, or a wrangler file with
// Store's keys. Faults are still reported at their position in the file.
import type { ConfigPath, SourcePositions } from "./positions.ts";
import type { ConfigSource } from "./source.ts";

/** Maps a path of the view, and everything inside it, to a path in the file. */
export interface Origins {
  set(path: ConfigPath, inFile: ConfigPath): void;
  find(path: ConfigPath): ConfigPath;
}

export function createOrigins(): Origins {
  const origins = new Map<string, ConfigPath>();
  return {
    set(path, inFile) {
      origins.set(JSON.stringify(path), inFile);
    },
    find(path) {
      for (let length = path.length; length > 0; length--) {
        const origin = origins.get(JSON.stringify(path.slice(0, length)));
        if (origin !== undefined) return [...origin, ...path.slice(length)];
      }
      return path;
    },
  };
}

export function createView(source: ConfigSource, value: unknown, origins: Origins): ConfigSource {
  const { positions } = source;
  const inFile = (path: ConfigPath) => positions.inFile(origins.find(path));
  const view: SourcePositions = {
    set: (path, position) => positions.set(origins.find(path), position),
    has: (path) => positions.has(origins.find(path)),
    find: (path) => positions.find(origins.find(path)),
    inFile,
  };
  return { ...source, value, positions: view };
}
