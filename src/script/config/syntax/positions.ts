// Where things stand in a configuration's text: from a path of keys and indexes to the characters of the key
// and of the value.
import type { Fault, Span } from "./error.ts";

export type ConfigPath = readonly (string | number)[];

export interface Place {
  /** Undefined for the root and for the elements of an array. */
  readonly key: Span | undefined;
  readonly value: Span;
}

export interface Places {
  set(path: ConfigPath, place: Place): void;
  has(path: ConfigPath): boolean;
  /** Of what is not there, the place of what it would stand in. */
  find(path: ConfigPath): Place;
  /** The path as the file has it; another one where the configuration is a view of the file. */
  inFile(path: ConfigPath): ConfigPath;
}

export interface ParsedConfig {
  readonly value: unknown;
  readonly places: Places;
}

/** Tables and lists in each other: more than anybody writes, and less than a stack holds. */
export const deepest = 64;

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
    message: `Here tables and lists are nested more than ${deepest} deep.`,
    hint: "Write it flatter, or keep it as text in quotes.",
  };
}

export function createPlaces(root: Span): Places {
  const places = new Map<string, Place>([[nameOf([]), { key: undefined, value: root }]]);
  return {
    set(path, place) {
      places.set(nameOf(path), place);
    },
    has: (path) => places.has(nameOf(path)),
    inFile: (path) => path,
    find(path) {
      for (let length = path.length; ; length--) {
        const place = places.get(nameOf(path.slice(0, length)));
        if (place !== undefined) return place;
      }
    },
  };
}

function nameOf(path: ConfigPath): string {
  return JSON.stringify(path);
}
