// How every process of the S3 API listens: limits of a request, and refusals in the form of S3.
import type { ListenOptions } from "../../http/server/listen.ts";
import { plainRefusal, type RefusalStatus, type RefusalText } from "../../http/server/refusal.ts";
import { errorDocument } from "../body/xml-writer.ts";
import { S3Error } from "../errors.ts";

/** Formats S3 error bodies for requests that are refused before they reach the handler. */
const refusal: RefusalText = (status) => {
  const { code, message } = refusalError(status);
  return {
    type: "application/xml",
    body: errorDocument([
      ["Code", code],
      ["Message", message],
    ]),
  };
};

function refusalError(status: RefusalStatus): S3Error {
  const { body: message } = plainRefusal(status);
  if (status === 408) return new S3Error("RequestTimeout");
  if (status === 431) return new S3Error("RequestHeaderSectionTooLarge");
  if (status === 501) return new S3Error("NotImplemented", { message });
  if (status === 503) return new S3Error("SlowDown");
  return new S3Error("BadRequest", { message });
}

export const s3PortOptions = {
  /** Limit for the headers of a request, including object metadata. */
  headerBytes: 64 * 1024,
  refusal,
  // Clients often send a small object in a second packet, and no operation can use a part of it.
  shortRequests: "direct when complete",
} as const satisfies ListenOptions;
