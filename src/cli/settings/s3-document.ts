// Settings whose document is S3's: JSON as `aws s3api` takes it, or XML.
import type { BucketSettings } from "../../model/bucket.ts";
import type { RuleFlaw } from "../../model/settings/rule-check.ts";
import { readXml, type XmlNode } from "../../s3/body/xml-reader.ts";
import type { XmlElement } from "../../s3/body/xml-writer.ts";
import { S3Error } from "../../s3/errors.ts";
import { type CommandError, usageError } from "../framework/command-error.ts";
import { checkElements, elementsToJson, jsonToNode, type RecordShape } from "./json-shape.ts";
import type { BucketSetting } from "./setting.ts";

export interface S3Document {
  /** Name of the document: the root element of the XML. */
  readonly root: string;
  readonly shape: RecordShape;
}

export interface DocumentSetting<Value> extends Pick<BucketSetting, "title" | "action">, S3Document {
  read(node: XmlNode): Value;
  write(value: Value): readonly XmlElement[];
  flaws?(value: Value): readonly RuleFlaw[];
  /** The value of the bucket; undefined if it has none. */
  value(settings: BucketSettings): Value | undefined;
  /** The changes that set the value; undefined: the changes that remove it. */
  changes(value: Value | undefined, settings: BucketSettings): BucketSettings;
  /** Runs before a value is set. */
  prepare?: BucketSetting["remove"];
}

export function documentSetting<Value>(options: DocumentSetting<Value>): BucketSetting {
  const { title, action, root, shape, read, write, flaws, value, changes, prepare } = options;
  return {
    title,
    action,
    show({ settings }) {
      const found = value(settings);
      return found === undefined ? undefined : elementsToJson(write(found), shape);
    },
    parse(document) {
      const parsed = withDocumentErrors(root, () => read(parseDocument(document, { root, shape })));
      refuseFlaws(flaws?.(parsed) ?? []);
      return async (data, bucket) => {
        await prepare?.(data, bucket);
        await data.engine.changeSettings(bucket.name, changes(parsed, bucket.settings));
        return undefined;
      };
    },
    remove: (data, { name, settings }) => data.engine.changeSettings(name, changes(undefined, settings)),
  };
}

export function parseDocument(document: string, { root, shape }: S3Document): XmlNode {
  if (document.startsWith("<")) {
    const node = readXml(Buffer.from(document), root);
    checkElements(node, shape);
    return node;
  }
  return jsonToNode(parseJson(document), root, shape);
}

export function parseJson(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch (error) {
    throw usageError(`The document is not valid JSON: ${(error as Error).message}; nothing was changed.`);
  }
}

/** Converts errors of S3's readers to usage errors. */
export function withDocumentErrors<T>(root: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof S3Error ? documentError(root, error) : error;
  }
}

export function documentError(root: string, { code, message }: S3Error): CommandError {
  if (code !== "MalformedXML") return usageError(`${message.replace(/\.?$/, ";")} nothing was changed.`);
  return usageError(`The document is not a valid ${root}; nothing was changed.`, [
    "It must have the form that aws s3api takes, as JSON or as XML: see docs/cli.md.",
  ]);
}

export function refuseFlaws([first]: readonly RuleFlaw[]): void {
  if (first === undefined) return;
  const where = first.rule === undefined ? "" : `Rule ${first.rule + 1}: `;
  throw usageError(`${where}${first.message.replace(/\.?$/, ";")} nothing was changed.`);
}
