// `store object …`: uploads, downloads, describes, lists and deletes objects.
import { StoreObject } from "../../../binding/object.ts";
import { StoreError } from "../../../model/errors.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { Command, CommandGroup } from "../../framework/command.ts";
import type { Output } from "../../framework/output.ts";
import { objectAddress } from "../../store/object-address.ts";
import { withData } from "../../store/open-store.ts";
import { getCommand } from "./get.ts";
import { listCommand } from "./list.ts";
import { putCommand } from "./put.ts";
import { urlCommand } from "./url.ts";

const headCommand: Command = {
  name: "head",
  summary: "Show the metadata of an object",
  usage: ["<bucket>/<key>"],
  options: {},
  examples: ["store object head photos/cat.jpg", "store object head photos/cat.jpg --json"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const { bucket, key } = objectAddress(parameters[0]!);
    const record = await withData(
      invocation,
      { absent: "refuse", subject: { bucket, key } },
      async (data) => {
        const found = await data.engine.head(bucket, key);
        if (found === undefined) throw new StoreError("NoSuchKey");
        return found;
      },
    );
    if (output.isJson) await output.json(new StoreObject(record));
    else await output.fields(objectFields(record, output));
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Delete an object",
  usage: ["<bucket>/<key>"],
  options: {},
  examples: ["store object delete photos/cat.jpg"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const { bucket, key } = objectAddress(parameters[0]!);
    await withData(invocation, { absent: "refuse", subject: { bucket, key } }, async (data) => {
      // The engine deletes a missing key without an error, but a user should notice a typo.
      if ((await data.engine.head(bucket, key)) === undefined) throw new StoreError("NoSuchKey");
      await data.engine.delete(bucket, [key]);
      await data.tidy();
    });
    if (output.isJson) await output.json({ bucket, key, deleted: true });
    else await output.line(`Deleted ${output.name(`${bucket}/${key}`)}.`);
  },
};

export const objectCommands: CommandGroup = {
  name: "object",
  summary: "Upload, download, list and delete objects",
  commands: [putCommand, getCommand, headCommand, listCommand, urlCommand, deleteCommand],
};

function objectFields(record: ObjectRecord, output: Output): (readonly [string, string])[] {
  const object = new StoreObject(record);
  const { cacheExpiry, ...http } = object.httpMetadata ?? {};
  return [
    ["key", object.key],
    ["size", output.bytes(object.size)],
    ["etag", object.etag],
    ["uploaded", output.time(record.uploaded)],
    ["version", object.version],
    ["storage class", object.storageClass],
    ...Object.entries(http).map(([name, value]) => [headerNames[name] ?? name, value] as const),
    ...(cacheExpiry === undefined ? [] : [["expires", output.time(cacheExpiry.getTime())] as const]),
    ...Object.entries(object.customMetadata ?? {}).map(
      ([name, value]) => [`metadata ${name}`, value] as const,
    ),
    ...Object.entries(object.checksums.toJSON()).map(([name, value]) => [name, value] as const),
    ...(object.ssecKeyMd5 === undefined ? [] : [["encryption key MD5", object.ssecKeyMd5] as const]),
  ];
}

const headerNames: Readonly<Record<string, string>> = {
  contentType: "content type",
  contentLanguage: "content language",
  contentDisposition: "content disposition",
  contentEncoding: "content encoding",
  cacheControl: "cache control",
};
