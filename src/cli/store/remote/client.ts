// Requests to an S3 service as commands need them: with retries, documents, and mapped errors.
import { readXml, type XmlNode } from "../../../s3/body/xml-reader.ts";
import { type XmlElement, xmlDocument } from "../../../s3/body/xml-writer.ts";
import type { S3Endpoint, S3Request, S3Times } from "../../../s3-client/client.ts";
import { md5Header, textPayload } from "../../../s3-client/payload.ts";
import { createRetryingS3Client, type RetryingS3Client } from "../../../s3-client/retrying-client.ts";
import { CommandError } from "../../framework/command-error.ts";
import { toRemoteError } from "./errors.ts";

export type RemoteEndpoint = Omit<S3Endpoint, "bucket" | "prefix">;

export interface RemoteClient extends RetryingS3Client {
  readonly endpoint: RemoteEndpoint;
  /** `host:port`, for messages. */
  readonly host: string;
  /** Sends a GET and parses its document. */
  read(request: Omit<S3Request, "method">, root: string): Promise<XmlNode>;
  /** Sends a document, with the checksum that some operations of S3 require. */
  write(request: DocumentRequest): Promise<string>;
}

export interface DocumentRequest extends Omit<S3Request, "body" | "method"> {
  readonly method?: "PUT" | "POST";
  readonly text: string;
}

/** A copy inside the service is answered only when it is complete. */
const times: Partial<S3Times> = { connect: 5000, answer: 120_000, idle: 30_000, retry: 180_000 };
const maxTries = 6;
/** A listing of 1,000 versions has at most about 20 elements each. */
const maxMarkup = 100_000;

export function createRemoteClient(endpoint: RemoteEndpoint, host: string): RemoteClient {
  const client = createRetryingS3Client(
    { ...endpoint, bucket: "", prefix: "" },
    { times, maxTries, unreachable: "report", mapError: toRemoteError },
  );
  return {
    ...client,
    endpoint,
    host,
    async read(request, root) {
      const { document } = await client.sendWithRetries({ ...request, method: "GET" });
      return parseDocument(document, root, host);
    },
    async write({ text, method = "PUT", headers, ...request }) {
      const body = textPayload(text);
      const sent = { "content-type": "application/xml", ...headers, ...md5Header(body) };
      return (await client.sendWithRetries({ ...request, method, headers: sent, body })).document;
    },
  };
}

export function parseDocument(document: string, root: string, host: string): XmlNode {
  try {
    return readXml(Buffer.from(document, "utf8"), root, { markup: maxMarkup });
  } catch (cause) {
    throw new CommandError(`The answer of ${host} is not a ${root} document of S3.`, {
      hint: "Check that the endpoint is the address of an S3 API: store profile list",
      cause,
    });
  }
}

export function documentText(root: string, children: readonly XmlElement[]): string {
  return xmlDocument(root, children);
}
