// Converts setting documents between the JSON of `aws s3api` and the XML of S3. Fields that the
// shape does not list are refused, so that a misspelled field is never ignored.
import { nearest } from "../../model/names/did-you-mean.ts";
import { isFields } from "../../model/shape.ts";
import type { XmlNode } from "../../s3/body/xml-reader.ts";
import type { XmlElement } from "../../s3/body/xml-writer.ts";
import { usageError } from "../framework/command-error.ts";

export type JsonShape =
  | { readonly kind: "text" | "number" | "flag"; readonly element?: string }
  | { readonly kind: "record"; readonly fields: Fields; readonly element?: string }
  | { readonly kind: "list"; readonly element: string; readonly item: JsonShape };

export type Fields = Readonly<Record<string, JsonShape>>;

/** The shape of a whole document. */
export type RecordShape = JsonShape & { readonly kind: "record" };

export const text: JsonShape = { kind: "text" };
export const number: JsonShape = { kind: "number" };
export const flag: JsonShape = { kind: "flag" };

export function record(fields: Fields, element?: string): RecordShape {
  return element === undefined ? { kind: "record", fields } : { kind: "record", fields, element };
}

/** A list in JSON, repeated elements in XML. */
export function list(element: string, item: JsonShape): JsonShape {
  return { kind: "list", element, item };
}

/** Converts JSON to the node that the same document has as XML. */
export function jsonToNode(value: unknown, name: string, shape: RecordShape): XmlNode {
  return toNode(unwrap(value, name, shape), name, shape, "");
}

/** Accepts the document also inside the parameter's name, and a bare list of rules. */
function unwrap(value: unknown, name: string, { fields }: RecordShape): unknown {
  const [first, ...others] = Object.entries(fields);
  if (Array.isArray(value) && first?.[1].kind === "list" && others.length === 0) return { [first[0]]: value };
  if (isFields(value) && Object.keys(value).length === 1 && Object.hasOwn(value, name)) return value[name];
  return value;
}

function toNode(value: unknown, name: string, shape: JsonShape, at: string): XmlNode {
  if (shape.kind === "record") {
    if (!isFields(value)) throw wrongType(at, "an object", value);
    const children = Object.entries(value).flatMap(([field, content]) =>
      fieldNodes(field, content, shape.fields, at),
    );
    return { name, children, text: "" };
  }
  return { name, children: [], text: plainText(value, shape, at) };
}

function fieldNodes(field: string, content: unknown, fields: Fields, at: string): XmlNode[] {
  const shape = Object.hasOwn(fields, field) ? fields[field]! : undefined;
  if (shape === undefined) throw unknownField(field, Object.keys(fields), at);
  const inner = at === "" ? field : `${at}.${field}`;
  if (shape.kind !== "list") return [toNode(content, shape.element ?? field, shape, inner)];
  if (!Array.isArray(content)) throw wrongType(inner, "a list", content);
  return content.map((item, i) => toNode(item, shape.element, shape.item, `${inner}[${i}]`));
}

function plainText(value: unknown, { kind }: JsonShape, at: string): string {
  if (kind === "text" && typeof value === "string") return value;
  if (kind === "number" && typeof value === "number") return String(value);
  if (kind === "flag" && typeof value === "boolean") return String(value);
  throw wrongType(at, kind === "text" ? "a string" : kind === "number" ? "a number" : "true or false", value);
}

/** Throws for an element that the shape does not list. */
export function checkElements(node: XmlNode, { fields }: RecordShape, at = ""): void {
  const shapes = new Map(
    Object.entries(fields).map(([field, shape]) => [shape.element ?? field, shape] as const),
  );
  for (const child of node.children) {
    const shape = shapes.get(child.name);
    if (shape === undefined) throw unknownField(child.name, [...shapes.keys()], at);
    const inner = shape.kind === "list" ? shape.item : shape;
    if (inner.kind === "record") checkElements(child, inner, at === "" ? child.name : `${at}.${child.name}`);
  }
}

/** Converts the elements of a document to its JSON. */
export function elementsToJson(elements: readonly XmlElement[], { fields }: RecordShape): unknown {
  const found: Record<string, unknown> = {};
  for (const [element, value] of elements) {
    if (value === undefined) continue;
    const [name, shape] = Object.entries(fields).find(([field, one]) => (one.element ?? field) === element)!;
    found[name] =
      shape.kind === "list"
        ? [...((found[name] ?? []) as unknown[]), toJson(value, shape.item)]
        : toJson(value, shape);
  }
  return found;
}

function toJson(value: NonNullable<XmlElement[1]>, shape: JsonShape): unknown {
  return shape.kind === "record" ? elementsToJson(value as readonly XmlElement[], shape) : value;
}

function unknownField(field: string, names: readonly string[], at: string) {
  const where = at === "" ? "the document" : at;
  const suggestion = nearest(field, names);
  return usageError(`"${field}" is not a field of ${where}; nothing was changed.`, [
    ...(suggestion === undefined ? [] : [`Did you mean "${suggestion}"?`]),
    `Fields: ${names.join(", ")}`,
  ]);
}

function wrongType(at: string, expected: string, value: unknown) {
  const found = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  const subject = at === "" ? "The document" : `"${at}"`;
  return usageError(`${subject} must be ${expected}, not ${found}; nothing was changed.`);
}
