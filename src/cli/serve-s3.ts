// The S3 API beside the scripts: where it listens, and the key that `dev` has at hand.
import { availableParallelism } from "node:os";
import type { Credential } from "../s3/credentials.ts";
import { ownKey } from "../s3/own-key.ts";
import { startS3 } from "../s3/server.ts";
import type { Mode } from "../script/host-messages.ts";
import type { Invocation, Option } from "./command.ts";
import type { Data } from "./context.ts";
import { hostOf, listenError, numberOption, urlOf } from "./listening.ts";

export const s3Options: Readonly<Record<string, Option>> = {
  "s3-port": { value: "PORT", summary: "where the S3 API answers, 9000 unless given; 0 picks a free one" },
  "s3-domain": {
    value: "NAME",
    summary: "a name in front of which a bucket's may stand, as in photos.s3.example.com",
    repeatable: true,
  },
  "s3-url": { value: "URL", summary: "what clients call the S3 API, in URLs that scripts sign" },
};

export interface RunningS3 {
  readonly url: string;
  /** While developing: one that may do everything. */
  readonly key: Credential | undefined;
  /** What scripts sign URLs with. */
  readonly presign: {
    readonly endpoint: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  close(): Promise<void>;
}

export async function serveS3(invocation: Invocation, data: Data, mode: Mode): Promise<RunningS3> {
  const port = numberOption(invocation, "s3-port", 9000, 65_535);
  const host = hostOf(invocation);
  const secretKey = data.secretKey();
  const key = mode === "dev" ? await ownKey(data.documents, secretKey, "dev") : undefined;
  const { accessKeyId, secretAccessKey } = await ownKey(data.documents, secretKey, "presign");
  const server = await startS3({
    location: data.location,
    host,
    port,
    processes: mode === "dev" ? 1 : availableParallelism(),
    domains: ["localhost", ...invocation.options.texts("s3-domain").map((name) => name.toLowerCase())],
    secretKey,
    log: (line) => invocation.output.note(line),
  }).catch((error: unknown) => {
    throw listenError(error, { host, port, option: "s3-port" });
  });
  const url = urlOf(host, server.port);
  const endpoint = invocation.options.text("s3-url")?.replace(/\/$/, "") ?? url;
  return { url, key, presign: { endpoint, accessKeyId, secretAccessKey }, close: () => server.close() };
}
