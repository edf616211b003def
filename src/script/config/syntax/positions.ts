// Source positions of a configuration: maps a path of keys and indexes to the characters of the key
// and the value.
import type { Fault, Span } from "./error.ts";

export type ConfigPath = readonly (string | number)[];

export interface SourcePosition {
  /** Undefined for the root and for the elements of an array. */
  readonly key: Span | undefined;
  readonly value: Span;
}

export interface SourcePositions {
  set(path: ConfigPath, position: SourcePosition): void;
  has(path: ConfigPath): boolean;
  /** For an absent path, the position of the closest existing parent. */
  find(path: ConfigPath): SourcePosition;
  /** The path in the file, which differs where the configuration is a view of the file. */
  inFile(path: ConfigPath): ConfigPath;
}

export interface ParsedConfig {
  readonly value: unknown;
  readonly positions: SourcePositions;
}

/** Maximum nesting: more than configurations need, less than the stack allows. */
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
