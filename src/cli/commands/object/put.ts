// `store object put`: uploads a file or stdin of any size.
import type { WriteOptions } from "../../../engine/engine.ts";
import { guessContentType } from "../../../http/content-types.ts";
import { StoreError } from "../../../model/errors.ts";
import { checkKey } from "../../../model/key.ts";
import { checkMetadata } from "../../../model/metadata.ts";
import { checkStorageClass, type HttpMetadata } from "../../../model/object.ts";
import { checkTags, maxObjectTags } from "../../../model/tags.ts";
import type { Command, ParsedOptions } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { escapeControls, type Output } from "../../framework/output.ts";
import { type ObjectAddress, objectAddress } from "../../store/object-address.ts";
import { objectJson } from "../../store/object-output.ts";
import type { OpenStore } from "../../store/object-store.ts";
import { parseTags } from "../../store/tags.ts";
import { withStore } from "../../store/with-store.ts";
import { fileInput, type Input, standardInput } from "../../terminal/input.ts";
import { startProgress } from "../../terminal/progress.ts";
import { upload } from "../../transfer/upload.ts";

export const putCommand: Command = {
  name: "put",
  summary: "Upload a file or stdin to a bucket",
  details:
    "The object appears complete or not at all. Large files are uploaded in parts. Without --content-type, the type\n" +
    "is guessed from the extension of the key or of the file's name.",
  usage: ["<bucket>/<key> <file>", "<bucket>/<key> -"],
  options: {
    "content-type": { value: "TYPE", summary: "content type, such as image/jpeg" },
    "cache-control": { value: "TEXT", summary: "Cache-Control header, such as max-age=3600" },
    "content-disposition": { value: "TEXT", summary: "Content-Disposition header, such as attachment" },
    "content-encoding": {
      value: "TEXT",
      summary: "Content-Encoding header, if the file is compressed with gzip, for example",
    },
    "content-language": { value: "TEXT", summary: "Content-Language header, such as en" },
    metadata: { value: "NAME=VALUE", summary: "custom metadata", repeatable: true },
    tag: { value: "KEY=VALUE", summary: "tag of the object, at most 10", repeatable: true },
    "storage-class": { value: "CLASS", summary: "Standard or InfrequentAccess; default: the bucket's class" },
  },
  examples: [
    "store object put photos/cat.jpg cat.jpg",
    "tar cz src | store object put backups/src.tgz -",
    "store object put photos/cat.jpg cat.jpg --metadata place=garden --metadata year=2026",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [address = "", file = ""] = parameters;
    const to = objectAddress(address);
    if (to.key === "") throw usageError(`"${address}" has no key.`, `For example: ${address}cat.jpg`);
    const write = writeOptions(options, to, file);
    const input = file === "-" ? standardInput() : await fileInput(file);
    try {
      const record = await withStore(invocation, { absent: "refuse", subject: to }, (data) =>
        runInterruptible((signal) => putWithProgress(data, { to, input, write, output, signal })),
      );
      if (output.isJson) return await output.json(objectJson(record));
      await output.line(`Uploaded ${output.name(address)}: ${output.size(record.size)}, etag ${record.etag}`);
    } finally {
      input.close();
    }
  },
};

interface Put {
  readonly to: ObjectAddress;
  readonly input: Input;
  readonly write: WriteOptions;
  readonly output: Output;
  readonly signal: AbortSignal;
}

async function putWithProgress({ engine, tidy }: OpenStore, { to, input, write, output, signal }: Put) {
  // Check the bucket before reading stdin: a user may be about to type the object.
  if ((await engine.bucket(to.bucket, [])) === undefined) throw new StoreError("NoSuchBucket");
  let leavesGarbage = (await engine.head(to.bucket, to.key)) !== undefined;
  const label = escapeControls(`${to.bucket}/${to.key}`);
  const progress = startProgress(output, { label, total: input.size });
  const onBytes = (count: number) => progress.advance(count);
  try {
    return await upload({ engine, to, ...input, options: write, signal, onBytes });
  } catch (error) {
    leavesGarbage = true;
    throw error;
  } finally {
    progress.end();
    if (leavesGarbage) await tidy();
  }
}

function writeOptions(options: ParsedOptions, { key }: ObjectAddress, file: string): WriteOptions {
  const texts = {
    contentType: options.text("content-type") ?? guessContentType(key, file),
    contentLanguage: options.text("content-language"),
    contentDisposition: options.text("content-disposition"),
    contentEncoding: options.text("content-encoding"),
    cacheControl: options.text("cache-control"),
  };
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  const httpMetadata: HttpMetadata = Object.fromEntries(given);
  const customMetadata = new Map(options.texts("metadata").map(metadataEntry));
  const storageClass = options.text("storage-class");
  if (storageClass !== undefined) checkStorageClass(storageClass);
  const tags = parseTags(options.texts("tag"), "--tag");
  checkKey(key);
  checkMetadata(httpMetadata, customMetadata);
  checkTags(tags, maxObjectTags);
  return { httpMetadata, customMetadata, storageClass, tags: tags.size === 0 ? undefined : tags };
}

function metadataEntry(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1)
    throw usageError(`--metadata needs a name and a value, not "${text}".`, "Write: --metadata NAME=VALUE");
  return [text.slice(0, at), text.slice(at + 1)];
}
