// `store object url`: a URL that anybody may use until it expires.
import { presignedUrl } from "../../../binding/presign.ts";
import { StoreError } from "../../../model/errors.ts";
import { createCredentials } from "../../../s3/auth/credentials.ts";
import { parseDuration } from "../../../s3/auth/grants.ts";
import { getInternalKey } from "../../../s3/auth/internal-key.ts";
import type { Command } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { endpointOption } from "../../serve/listen-options.ts";
import { objectAddress } from "../../store/object-address.ts";
import { type Data, withData } from "../../store/open-store.ts";

export const urlCommand: Command = {
  name: "url",
  summary: "Make a URL by which anybody may reach an object until it expires",
  details:
    "The URL is one of the S3 API, which `store dev` and `store serve` bring. It carries the authority of an access\n" +
    "key: whoever deletes or disables the key ends the URL. Nobody checks whether the object exists.",
  usage: ["<bucket>/<key>"],
  options: {
    method: { value: "METHOD", summary: "GET, HEAD, PUT or DELETE; GET unless given" },
    expires: { value: "TIME", summary: "from now, up to 7d, such as 15m; 1h unless given" },
    endpoint: { value: "URL", summary: "where the S3 API answers; http://127.0.0.1:9000 unless given" },
    key: { value: "ID", summary: "the access key to sign with; one of the store's own unless given" },
  },
  examples: [
    "store object url photos/cat.jpg",
    "store object url photos/cat.jpg --expires 15m --endpoint https://s3.example.com",
    "store object url photos/new.jpg --method PUT",
  ],
  async run(invocation) {
    const { options, output, parameters } = invocation;
    const { bucket, key } = objectAddress(parameters[0]!);
    if (key === "") throw usageError(`"${bucket}/" names no key.`, `For example: ${bucket}/cat.jpg`);
    const method = parseMethod(options.text("method") ?? "GET");
    const expiresIn = parseLifetimeSeconds(options.text("expires") ?? "1h");
    const endpoint = endpointOption(invocation, "endpoint") ?? "http://127.0.0.1:9000";
    const url = await withData(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
      if ((await data.engine.bucket(bucket)) === undefined) throw new StoreError("NoSuchBucket");
      const { accessKeyId, secretAccessKey } = await findSigningKey(data, options.text("key"));
      return presignedUrl({ endpoint, accessKeyId, secretAccessKey }, bucket, key, { method, expiresIn });
    });
    if (output.isJson) await output.json({ bucket, key, method, url, expiresIn });
    else await output.line(url);
  },
};

const methods = ["GET", "HEAD", "PUT", "DELETE"] as const;

function parseMethod(text: string): (typeof methods)[number] {
  const method = methods.find((one) => one === text.toUpperCase());
  if (method !== undefined) return method;
  throw usageError(`--method must be GET, HEAD, PUT or DELETE, not "${text}".`);
}

const maxLifetime = "7d";

function parseLifetimeSeconds(text: string): number {
  let milliseconds: number;
  try {
    milliseconds = parseDuration(text);
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
  if (milliseconds <= parseDuration(maxLifetime)) return milliseconds / 1000;
  throw usageError(`--expires must be ${maxLifetime} at most, not "${text}".`);
}

async function findSigningKey({ documents, secretKey }: Data, id: string | undefined) {
  if (id === undefined) return getInternalKey(documents, secretKey(), "presign");
  const found = await createCredentials(documents, secretKey(), Date.now).find(id);
  if (found?.state === "active") return found;
  const what =
    found === undefined ? `There is no access key "${id}".` : `The access key "${id}" is ${found.state}.`;
  throw new CommandError(what, { hint: "See which there are: store key list" });
}
