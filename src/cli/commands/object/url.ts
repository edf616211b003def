// `store object url`: creates a presigned URL for an object.

import { parseDuration } from "../../../access/grants.ts";
import { createCredentials } from "../../../access/keys/credentials.ts";
import { getInternalKey } from "../../../access/keys/internal-key.ts";
import { presignedUrl } from "../../../binding/presign.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { endpointOption } from "../../serve/listen-options.ts";
import { type ObjectAddress, objectAddress } from "../../store/object-address.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { findChoice } from "../../store/remote/service.ts";
import { withStore } from "../../store/with-store.ts";

export const urlCommand: Command = {
  name: "url",
  summary: "Create a presigned URL that gives access to an object until it expires",
  details:
    "The URL belongs to the S3 API of `store dev` or `store serve`. It is signed with an access key, and stops\n" +
    "working when that key is disabled or deleted. The object does not have to exist. With --profile, it belongs to\n" +
    "that service and is signed with the profile's key.",
  usage: ["<bucket>/<key>"],
  options: {
    method: { value: "METHOD", summary: "GET, HEAD, PUT or DELETE; default: GET" },
    expires: { value: "TIME", summary: "lifetime, such as 15m, at most 7d; default: 1h" },
    endpoint: { value: "URL", summary: "public URL of the S3 API; default: http://127.0.0.1:9000" },
    key: { value: "ID", summary: "access key to sign with; default: an internal key of the store" },
  },
  examples: [
    "store object url photos/cat.jpg",
    "store object url photos/cat.jpg --expires 15m --endpoint https://s3.example.com",
    "store object url photos/new.jpg --method PUT",
  ],
  async run(invocation) {
    const { options, output, parameters } = invocation;
    const { bucket, key } = objectAddress(parameters[0]!);
    if (key === "") throw usageError(`"${bucket}/" has no key.`, `For example: ${bucket}/cat.jpg`);
    const method = parseMethod(options.text("method") ?? "GET");
    const expiresIn = parseLifetimeSeconds(options.text("expires") ?? "1h");
    const local = withoutEndpoint(invocation);
    const url =
      findChoice(local) === undefined
        ? await signLocally(local, {
            address: { bucket, key },
            method,
            expiresIn,
            ...localOptions(invocation),
          })
        : await signRemotely(invocation, { address: { bucket, key }, method, expiresIn });
    if (output.isJson) await output.json({ bucket, key, method, url, expiresIn });
    else await output.line(url);
  },
};

interface UrlRequest {
  readonly address: ObjectAddress;
  readonly method: (typeof methods)[number];
  readonly expiresIn: number;
}

/** Here, --endpoint is the public address of the store, not the store to work on. */
function withoutEndpoint(invocation: Invocation): Invocation {
  const { options } = invocation;
  const text = (name: string) => (name === "endpoint" ? undefined : options.text(name));
  return { ...invocation, options: { ...options, text } };
}

function localOptions(invocation: Invocation) {
  const endpoint = endpointOption(invocation, "endpoint") ?? "http://127.0.0.1:9000";
  return { endpoint, keyId: invocation.options.text("key") };
}

function signLocally(
  invocation: Invocation,
  request: UrlRequest & { readonly endpoint: string; readonly keyId: string | undefined },
): Promise<string> {
  const { address, method, expiresIn, endpoint, keyId } = request;
  const { bucket, key } = address;
  return withData(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
    if ((await data.engine.bucket(bucket)) === undefined) throw new StoreError("NoSuchBucket");
    const { accessKeyId, secretAccessKey } = await findSigningKey(data, keyId);
    return presignedUrl({ endpoint, accessKeyId, secretAccessKey }, bucket, key, { method, expiresIn });
  });
}

function signRemotely(invocation: Invocation, { address, method, expiresIn }: UrlRequest): Promise<string> {
  if (invocation.options.text("key") !== undefined) {
    throw usageError("--key names an access key of the store's files; a profile has its own key.");
  }
  return withStore(invocation, { absent: "refuse", subject: address }, async ({ engine }) =>
    engine.service!.presign(address, { method, expiresInSeconds: expiresIn }),
  );
}

const methods = ["GET", "HEAD", "PUT", "DELETE"] as const;

function parseMethod(text: string): (typeof methods)[number] {
  const method = methods.find((one) => one === text.toUpperCase());
  if (method !== undefined) return method;
  throw usageError(`--method must be GET, HEAD, PUT or DELETE, not "${text}".`);
}

const maxLifetime = "7d";

function parseLifetimeSeconds(text: string): number {
  const milliseconds = parseOrUsageError(() => parseDuration(text));
  if (milliseconds <= parseDuration(maxLifetime)) return milliseconds / 1000;
  throw usageError(`--expires must be at most ${maxLifetime}, not "${text}".`);
}

async function findSigningKey({ documents, secretKey }: Data, id: string | undefined) {
  if (id === undefined) return getInternalKey(documents, secretKey(), "presign");
  const found = await createCredentials(documents, secretKey(), Date.now).find(id);
  if (found?.state === "active") return found;
  const what =
    found === undefined ? `There is no access key "${id}".` : `The access key "${id}" is ${found.state}.`;
  throw new CommandError(what, { hint: "List access keys: store key list" });
}
