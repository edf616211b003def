// `store object url`: a URL that anybody may use until it expires.
import { presignedUrl } from "../../binding/presign.ts";
import { StoreError } from "../../model/errors.ts";
import { createCredentials, parseDuration } from "../../s3/credentials.ts";
import { ownKey } from "../../s3/own-key.ts";
import type { Command, Invocation } from "../command.ts";
import { CommandError, usageError } from "../command-error.ts";
import { type Data, withData } from "../context.ts";
import { objectAddress } from "../object-address.ts";

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
    const method = (options.text("method") ?? "GET").toUpperCase() as "GET";
    const expiresIn = parsed(() => parseDuration(options.text("expires") ?? "1h")) / 1000;
    const endpoint = endpointOf(invocation);
    const url = await withData(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
      if ((await data.engine.bucket(bucket)) === undefined) throw new StoreError("NoSuchBucket");
      const { accessKeyId, secretAccessKey } = await signer(data, options.text("key"));
      return parsed(() =>
        presignedUrl({ endpoint, accessKeyId, secretAccessKey }, bucket, key, { method, expiresIn }),
      );
    });
    if (output.isJson) await output.json({ bucket, key, method, url, expiresIn });
    else await output.line(url);
  },
};

function endpointOf({ options }: Invocation): string {
  const text = options.text("endpoint") ?? "http://127.0.0.1:9000";
  if (!/^https?:\/\/[^/?#]+\/?$/i.test(text)) {
    throw usageError(
      `--endpoint must be a URL without a path, such as https://s3.example.com, not "${text}".`,
    );
  }
  return text.replace(/\/$/, "");
}

async function signer({ documents, secretKey }: Data, id: string | undefined) {
  if (id === undefined) return ownKey(documents, secretKey(), "presign");
  const found = await createCredentials(documents, secretKey(), Date.now).find(id);
  if (found?.state === "active") return found;
  const why = found === undefined ? "There is no" : `It is ${found.state}: the`;
  throw new CommandError(`${why} access key ${id}.`, { hint: "See which there are: store key list" });
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw usageError(error.message);
    throw error;
  }
}
