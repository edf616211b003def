// Reads multipart/form-data as browsers send it: fields of limited size, then one file as a stream.
import { S3Error } from "../errors.ts";
import type { BudgetShare } from "./document-budget.ts";

export interface Form {
  /** Values by field name in lowercase. */
  readonly fields: ReadonlyMap<string, string>;
  readonly fileName: string | undefined;
  file(): AsyncIterable<Uint8Array>;
}

export const maxFieldBytes = 64 * 1024;

export function parseBoundary(contentType: string | undefined): Buffer {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(
    contentType ?? "",
  );
  const boundary = match?.[1] ?? match?.[2];
  if (boundary !== undefined) return Buffer.from(`\r\n--${boundary}`, "latin1");
  throw new S3Error("PreconditionFailed", {
    message: "Bucket POST must be of the enclosure-type multipart/form-data",
  });
}

/** Reads the fields; `file()` then streams the bytes of the file. */
export async function readForm(
  source: AsyncIterable<Uint8Array>,
  boundary: Buffer,
  share: BudgetShare,
): Promise<Form> {
  const chunks = source[Symbol.asyncIterator]();
  const fields = new Map<string, string>();
  let fieldBytes = 0;
  const received = receivedBytes();
  // `boundary` starts with CRLF, which the first boundary of a body lacks: add it.
  let rest = received.append(Buffer.from("\r\n"));
  const readMore = async () => {
    const { done, value } = await chunks.next();
    if (done === true) return false;
    share.resize(fieldBytes + rest.length + value.length);
    rest = received.append(value);
    return true;
  };
  const readUntil = async (mark: Buffer | string) => {
    for (let from = 0; ; ) {
      const at = rest.indexOf(mark, from);
      if (at !== -1 && at <= maxFieldBytes) {
        const before = rest.subarray(0, at);
        rest = received.drop(at + mark.length);
        return before;
      }
      if (rest.length > maxFieldBytes)
        throw new S3Error("MaxMessageLengthExceeded", {
          message: "Your POST request fields preceding the upload file were too large.",
        });
      from = Math.max(0, rest.length - mark.length);
      if (!(await readMore())) throw new S3Error("MalformedPOSTRequest");
    }
  };

  if ((await readUntil(boundary)).toString().trim() !== "") throw new S3Error("MalformedPOSTRequest");
  for (;;) {
    if ((await readUntil("\r\n")).toString().trim() === "--") throw noFile();
    const text = (await readUntil("\r\n\r\n")).toString("utf8");
    const head = parsePartHead(text);
    if (head.name === "file") {
      share.resize(fieldBytes);
      return { fields, fileName: head.fileName, file: () => fileBytes(boundary, rest, chunks) };
    }
    const value = await readUntil(boundary);
    fieldBytes += value.length + text.length;
    if (fieldBytes > maxFieldBytes) throw new S3Error("MaxMessageLengthExceeded");
    fields.set(head.name, value.toString("utf8"));
  }
}

/**
 * Received bytes that are not read yet. The memory doubles when it is full, so that a body in chunks
 * of one byte is copied a few times, not once for each chunk.
 */
function receivedBytes() {
  let memory = Buffer.allocUnsafe(1024);
  let [start, end] = [0, 0];
  const rest = () => memory.subarray(start, end);
  return {
    append(bytes: Uint8Array): Buffer {
      if (end + bytes.length > memory.length) {
        const larger = Buffer.allocUnsafe(2 * (end - start + bytes.length));
        end = memory.copy(larger, 0, start, end);
        start = 0;
        memory = larger;
      }
      memory.set(bytes, end);
      end += bytes.length;
      return rest();
    },
    drop(count: number): Buffer {
      start += count;
      return rest();
    },
  };
}

function noFile(): S3Error {
  return new S3Error("InvalidArgument", { message: "POST requires exactly one file upload per request." });
}

function parsePartHead(text: string): { readonly name: string; readonly fileName: string | undefined } {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(text)?.[1];
  const name = /(?:^|;)\s*name="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? "")?.[1];
  if (!name) throw new S3Error("MalformedPOSTRequest");
  const fileName = /(?:^|;)\s*filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? "")?.[1];
  return {
    name: unquote(name).toLowerCase(),
    fileName: fileName === undefined ? undefined : unquote(fileName),
  };
}

function unquote(text: string): string {
  return text.replace(/\\(.)/g, "$1").replaceAll("%22", '"');
}

/** Yields the bytes up to the boundary. Fields after the file are read and ignored. */
async function* fileBytes(
  boundary: Buffer,
  start: Buffer,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let rest = start;
  for (;;) {
    const at = rest.indexOf(boundary);
    if (at !== -1) {
      if (at > 0) yield rest.subarray(0, at);
      for (;;) if ((await chunks.next()).done === true) return;
    }
    // The boundary may begin in this chunk and end in the next.
    const safe = rest.length - boundary.length + 1;
    if (safe > 0) {
      yield rest.subarray(0, safe);
      rest = rest.subarray(safe);
    }
    const { done, value } = await chunks.next();
    if (done === true) throw new S3Error("IncompleteBody");
    rest = Buffer.concat([rest, value]);
  }
}
