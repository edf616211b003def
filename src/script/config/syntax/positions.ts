// Source positions of a configuration: maps a path of keys and indexes to the position of its key
// and its value.
import type { Fault, Span } from "./error.ts";

export type ConfigPath = readonly (string | number)[];

export interface SourcePosition {
  /** Undefined for the root and for elements of an array. */
  readonly key: Span | undefined;
  readonly value: Span;
}

export interface SourcePositions {
  set(path: ConfigPath, position: SourcePosition): void;
  has(path: ConfigPath): boolean;
  /** Returns the position of a path, or of its closest existing parent. */
  find(path: ConfigPath): SourcePosition;
  /** Translates a path of the configuration to the path in its file, which may have other keys. */
  inFile(path: ConfigPath): ConfigPath;
}

export interface ParsedConfig {
  readonly value: unknown;
  readonly positions: SourcePositions;
}

/** Maximum nesting: deeper than any real configuration, but safe for the stack. */
export const maxDepth = 64;

export class TooDeep extends Error {
  readonly span: Span;

  constructor(span: Span) {
    super("nested too deeply");
    this.span = span;
  }
}

export function depthFault(span: Span): Fault {
  return {
    span,
    message: `Tables and lists are nested more than ${maxDepth} levels deep here.`,
    hint: "Write it flatter, or keep it as text in quotes.",
  };
}

export function createPositions(root: Span): SourcePositions {
  const positions = new Map<string, SourcePosition>([[serializePath([]), { key: undefined, value: root }]]);
  return {
    set(path, position) {
      positions.set(serializePath(path), position);
    },
    has: (path) => positions.has(serializePath(path)),
    inFile: (path) => path,
    find(path) {
      for (let length = path.length; ; length--) {
        const position = positions.get(serializePath(path.slice(0, length)));
        if (position !== undefined) return position;
      }
    },
  };
}

function serializePath(path: ConfigPath): string {
  return JSON.stringify(path);
}
