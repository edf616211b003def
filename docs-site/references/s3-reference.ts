// The reference of S3 operations. Every operation of the AWS SDK is sent to the table of operations
// that the server uses, so the page lists what the server does with it.
import type { HttpRequest } from "../../src/http/server/listen.ts";
import { errors, S3Error } from "../../src/s3/errors.ts";
import { readOperation, subresources, versionOperations } from "../../src/s3/operation.ts";
import { type OperationName, operationNames, operationRights } from "../../src/s3/operation-rights.ts";
import { readRequest } from "../../src/s3/request.ts";
import { generatedNote, tableOf } from "./references.ts";
import { type SdkRequest, sdkRequests } from "./sdk-requests.ts";

export async function s3Reference(): Promise<string> {
  const requests = await sdkRequests();
  const results = requests.map((request) => ({ request, result: resultOf(request) }));
  const done = operationNames.flatMap((name) => {
    if (name === "PostObject") return [doneRow(name, name, "`POST /{bucket}`, a form")];
    const found = results.filter(({ result }) => result === name);
    if (found.length === 0) throw new Error(`No operation of the SDK is ${name}.`);
    return found.map(({ request }) => doneRow(request.name, name, requestText(request)));
  });
  const refused = results.flatMap(({ request, result }) =>
    result instanceof S3Error ? [[request.name, requestText(request), errorText(result)]] : [],
  );
  return [
    generatedNote,
    "# S3 operations",
    "Which operations of S3 the server supports, and how it refuses the others. This page is generated\n" +
      "from the table that the server itself uses. [The S3 API](../s3.md#operations-that-are-done) has the\n" +
      "details of each operation, [its errors](../s3.md#errors) and the headers.",
    "## Supported",
    "*Right* is what a [grant](../access.md) must give; *append* after it means that the right to append\n" +
      "is enough while the key has no object. *Policy action* is the name in [bucket policies](../policies.md).\n" +
      "Operations with *versionId* accept the id of a version.",
    tableOf(["operation", "request", "right", "policy action", "versionId"], done),
    "## Refused",
    "These operations of S3 have no effect and are answered with the error.",
    tableOf(["operation", "request", "error"], refused),
    "## Subresources",
    "Methods that are supported with each query name. Every other combination of a method with one of\n" +
      `these names is answered with ${errorText(new S3Error("NotImplemented"))}, and a method without a\n` +
      `query name that is not in the tables above with ${errorText(new S3Error("MethodNotAllowed"))}.`,
    tableOf(["query name", "on a bucket", "on an object"], subresourceRows()),
    "",
  ].join("\n\n");
}

function doneRow(sdkName: string, name: OperationName, request: string): string[] {
  const { on, right, action, ...rest } = operationRights[name];
  const append = "canAppend" in rest ? ", append" : "";
  const rightText = on === "account" ? `${right}, all buckets` : `${right}${append}`;
  return [sdkName, request, rightText, `\`${action}\``, versionOperations.has(name) ? "yes" : ""];
}

function resultOf({ method, target, headers }: Omit<SdkRequest, "name">): OperationName | S3Error {
  try {
    return readOperation(readRequest(bareRequest(method, target, headers)), []).name;
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
}

/** A request without a body and a connection: the table needs only method, target and headers. */
function bareRequest(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): HttpRequest {
  return {
    method,
    target,
    rawHeaders: [],
    header: (name) => headers[name],
    scheme: "http",
    address: () => "",
    hasBody: false,
    async *body() {},
    bytesRead: () => 0,
    onDisconnect() {},
  };
}

function requestText({ method, target, headers }: SdkRequest): string {
  const [path = "", query = ""] = target.split("?");
  const shape = path.replace("/bucket", "/{bucket}").replace("/key", "/{key}");
  const names = query
    .split("&")
    .map((pair) => pair.split("=") as [string, string?])
    .filter(([name]) => name !== "" && name !== "x-id")
    .map(([name, value]) => (name === "list-type" ? `${name}=${value}` : name));
  const copy = "x-amz-copy-source" in headers ? " with `x-amz-copy-source`" : "";
  return `\`${method} ${shape}${names.length === 0 ? "" : `?${names.join("&")}`}\`${copy}`;
}

function errorText({ code }: S3Error): string {
  return `${errors[code][0]} ${code}`;
}

function subresourceRows(): string[][] {
  const methods = ["GET", "HEAD", "PUT", "POST", "DELETE"];
  // A part is only named together with its upload.
  const queries = [...subresources, "partNumber&uploadId"];
  const supported = (path: string, query: string) =>
    methods
      .filter((method) => !(resultOf({ method, target: `${path}?${query}`, headers: {} }) instanceof S3Error))
      .join(", ") || "–";
  return queries.map((query) => [
    `\`${query}\``,
    supported("/bucket", query),
    supported("/bucket/key", query),
  ]);
}
