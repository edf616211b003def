// Tests that Node's own classes pass and the classes of scripts fail, with the reason. A failure
// that is not listed here fails the run.

export interface Difference {
  /** Beginning of the test file's path. */
  readonly file: string;
  readonly test: string | RegExp;
  /** "deliberate": the scripts' platform requires it. `nodeBelow`: only older Node versions. */
  readonly cause: "deliberate" | { readonly nodeBelow: number };
  readonly reason: string;
}

/** Where the classes of scripts differ from the standard because the scripts' platform does. */
const deliberate: readonly Difference[] = [
  {
    file: "fetch/api/headers/headers-errors.any.js",
    test: /invalidĀ|bad header value as init argument/,
    cause: "deliberate",
    reason: "header values may be UTF-8",
  },
  {
    file: "fetch/api/headers/headers-record.any.js",
    test: "Correct operation ordering with two properties one of which has an invalid value",
    cause: "deliberate",
    reason: "header values may be UTF-8",
  },
  {
    file: "fetch/api/request/request-init-stream.any.js",
    test: "It is error to omit .duplex when the body is a ReadableStream.",
    cause: "deliberate",
    reason: "a Request with a stream body needs no `duplex`",
  },
  {
    file: "fetch/api/basic/request-upload.any.js",
    test: "Streaming upload shouldn't work on Http/1.1.",
    cause: "deliberate",
    reason: "a Request with a stream body needs no `duplex`",
  },
  {
    file: "fetch/api/basic/historical.any.js",
    test: "Headers object no longer has a getAll() method",
    cause: "deliberate",
    reason: 'real scripts use headers.getAll("Set-Cookie")',
  },
];

/** Failures of Node's own classes in older versions, where scripts use these classes. */
const olderNode: readonly Difference[] = [
  older("url/", /./, "the URL parser and its IDNA tables are Node's own"),
  older("encoding/legacy-mb-schinese/", /./, "ICU's tables for gb18030 and gbk"),
  older("encoding/textdecoder-mistakes.any.js", /gbk/, "ICU's tables for gb18030 and gbk"),
  older("encoding/streams/decode-bad-chunks.any.js", /undefined/, "Node's TextDecoderStream"),
  older("encoding/encodeInto.any.js", /Float16Array/, "no Float16Array"),
  older("compression/decompression-buffersource.any.js", /Float16Array/, "no Float16Array"),
  older("fetch/api/basic/request-upload.any.js", /Float16Array/, "no Float16Array"),
  older("streams/piping/general-addition.any.js", /enqueue/, "Node's stream classes"),
  older("streams/readable-byte-streams/patched-global.any.js", /byobRequest/, "Node's stream classes"),
  older("streams/readable-streams/from.any.js", /function iterator/, "Node's stream classes"),
  older("streams/transferable/", /Transferring/, "Node's stream classes"),
  older("streams/writable-streams/aborting.any.js", /recursive abort/, "Node's stream classes"),
  older("streams/writable-streams/close.any.js", /closed stream/, "Node's stream classes"),
  older("streams/writable-streams/crashtests/", /backpressure/, "no Promise.withResolvers"),
  older("FileAPI/blob/Blob-constructor.any.js", /./, "Node's Blob"),
];

function older(file: string, test: RegExp, reason: string): Difference {
  return { file, test, cause: { nodeBelow: 24 }, reason };
}

/** Returns the differences that apply to a major version of Node. */
export function differencesFor(nodeMajor: number): readonly Difference[] {
  return [
    ...deliberate,
    ...olderNode.filter(({ cause }) => cause !== "deliberate" && nodeMajor < cause.nodeBelow),
  ];
}
