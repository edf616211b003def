// Finds the end of each HTTP response on a connection, at little cost. Bodies are counted, not kept.

export interface ParsedResponse {
  readonly status: number;
  /** Whether the server closes the connection after this response. */
  readonly isLast: boolean;
}

const maxHeadBytes = 65_536;

/** Returns a function that takes bytes as they arrive and returns a response when it is complete. */
export function createResponseParser(): (bytes: Buffer) => ParsedResponse | undefined {
  let head = "";
  let response: ParsedResponse | undefined;
  /** Bytes of the body, or of the current chunk, that are still to come. */
  let left = 0;
  let chunks: "none" | "size" | "data" = "none";
  let line = "";

  function readHead(bytes: Buffer): Buffer | undefined {
    const before = head.length;
    head += bytes.toString("latin1", 0, maxHeadBytes);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) {
      if (head.length > maxHeadBytes) throw new Error("Cannot measure: the head of a response is too long");
      return undefined;
    }
    const text = head.slice(0, end);
    head = "";
    const status = Number(text.slice(9, 12));
    const length = /\ncontent-length: *(\d+)/i.exec(text)?.[1];
    response = { status, isLast: /\nconnection: *close/i.test(text) };
    chunks = /\ntransfer-encoding: *chunked/i.test(text) ? "size" : "none";
    left = chunks === "none" ? Number(length ?? 0) : 0;
    return bytes.subarray(end + 4 - before);
  }

  /** Returns whether the last chunk has ended. */
  function readChunks(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (chunks === "data") {
        const taken = Math.min(left, bytes.length - at);
        left -= taken;
        at += taken;
        if (left === 0) chunks = "size";
        continue;
      }
      const end = bytes.indexOf("\n", at);
      line += bytes.toString("latin1", at, end === -1 ? bytes.length : end);
      if (end === -1) return false;
      at = end + 1;
      const size = Number.parseInt(line, 16);
      line = "";
      // The data of a chunk ends with CRLF; the last chunk has no data and no trailers.
      if (size === 0) return true;
      left = size + 2;
      chunks = "data";
    }
    return false;
  }

  return (bytes) => {
    const body = response === undefined ? readHead(bytes) : bytes;
    if (body === undefined || response === undefined) return undefined;
    if (chunks === "none") left -= body.length;
    const isDone = chunks === "none" ? left <= 0 : readChunks(body);
    if (!isDone) return undefined;
    const done = response;
    response = undefined;
    return done;
  };
}
