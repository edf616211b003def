// Serves one bucket in the bucket protocol of the workerd runtime. There are no credentials: every
// process that can connect to the socket may use this bucket, and cannot name another.
import type { HttpHandler, HttpRequest, ListenOptions } from "../../http/server/listen.ts";
import { errorMessage } from "../../model/errors.ts";
import type { Fields } from "../../model/shape.ts";
import { bucketRefusal, errorResponse, FrameError, invalid, isFault } from "./errors.ts";
import { type RequestedOperation, withExchangeReport } from "./exchange.ts";
import { optionalCount, requiredText } from "./fields.ts";
import { createLargeFrames, type Frame, readBodyFrame, readHeaderFrame } from "./frame.ts";
import type { BucketCapabilityOptions, BucketResponse, Operation } from "./operation.ts";
import { get, head, list } from "./read-operations.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  put,
  remove,
  uploadPart,
} from "./write-operations.ts";

/** Options that a listener of this handler needs, so that the runtime understands its refusals. */
export const bucketListenOptions = {
  peer: "client",
  refusal: bucketRefusal,
  // The metadata of a GET is a header: a list has up to four texts of 1 KiB, each escaped by JSON.
  headerBytes: 64 * 1024,
  shortRequests: "direct when complete",
} as const satisfies ListenOptions;

const reads: ReadonlyMap<string, Operation> = new Map([
  ["head", head],
  ["get", get],
  ["list", list],
]);

const writes: ReadonlyMap<string, Operation> = new Map([
  ["put", put],
  ["delete", remove],
  ["createMultipartUpload", createMultipartUpload],
  ["uploadPart", uploadPart],
  ["completeMultipartUpload", completeMultipartUpload],
  ["abortMultipartUpload", abortMultipartUpload],
]);

export function createBucketCapability(options: BucketCapabilityOptions): HttpHandler {
  const limitLarge = createLargeFrames();
  return withExchangeReport(options, async (request, requested) => {
    let isGone = false;
    request.onDisconnect(() => {
      isGone = true;
    });
    try {
      return await limitLarge(request, () => answer(options, request, requested));
    } catch (error) {
      if (isFault(error) && !isGone) {
        options.log?.(`A request to the socket of bucket ${options.bucket} failed: ${errorMessage(error)}`);
      }
      return errorResponse(error);
    }
  });
}

async function answer(
  options: BucketCapabilityOptions,
  request: HttpRequest,
  requested: RequestedOperation,
): Promise<BucketResponse> {
  const frame = await readFrame(request);
  try {
    const operation = findOperation(request.method, frame.fields);
    requested.fields = frame.fields;
    return await operation(options, frame.fields, frame.source);
  } finally {
    await frame.drain();
  }
}

async function readFrame(request: HttpRequest): Promise<Frame> {
  if (request.method === "GET") return readHeaderFrame(request);
  if (request.method === "PUT") return readBodyFrame(request);
  throw new FrameError("The bucket protocol has GET and PUT only.");
}

const protocolVersion = 1;

function findOperation(method: string, fields: Fields): Operation {
  const version = optionalCount(fields, "version");
  if (version !== protocolVersion) {
    throw invalid(`This version of Store speaks version ${protocolVersion} of the bucket protocol only.`);
  }
  const name = requiredText(fields, "method");
  const [own, other] = method === "GET" ? [reads, writes] : [writes, reads];
  const operation = own.get(name);
  if (operation !== undefined) return operation;
  throw invalid(
    other.has(name)
      ? `The operation ${name} cannot be sent by ${method}.`
      : "The operation is unknown: a bucket's socket has only operations on objects.",
  );
}
