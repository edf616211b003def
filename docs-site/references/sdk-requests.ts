// The request of every operation of the AWS SDK for S3. Nothing is sent.
import * as sdk from "@aws-sdk/client-s3";

export interface SdkRequest {
  /** Name of the operation in S3. */
  readonly name: string;
  readonly method: string;
  /** Path and query, as in the first line of the request. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Operations of other endpoints than a server of buckets. */
const elsewhere = new Set(["ListDirectoryBuckets", "WriteGetObjectResponse"]);

/** Input for all operations: each takes the members that it knows. */
const input = {
  Bucket: "bucket",
  Key: "key",
  Id: "id",
  UploadId: "upload",
  PartNumber: 1,
  CopySource: "bucket/source",
  RenameSource: "/bucket/source",
  AnnotationName: "name",
  AnnotationPayload: "x",
  Body: "x",
  Delete: { Objects: [{ Key: "key" }] },
  MultipartUpload: { Parts: [] },
  ObjectAttributes: ["ETag"],
  Tagging: { TagSet: [] },
  Expression: "select 1",
  ExpressionType: "SQL",
  InputSerialization: { CSV: {} },
  OutputSerialization: { CSV: {} },
};

interface CapturedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export async function sdkRequests(): Promise<SdkRequest[]> {
  let captured: CapturedRequest | undefined;
  const client = new sdk.S3Client({
    endpoint: "http://127.0.0.1:1",
    region: "auto",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    requestHandler: {
      async handle(request: CapturedRequest) {
        captured = request;
        throw new Error("The request is only looked at.");
      },
    },
  });
  type AnyCommand = new (input: unknown) => sdk.HeadObjectCommand;
  const commands = Object.entries(sdk as unknown as Record<string, AnyCommand>);
  const requests: SdkRequest[] = [];
  for (const [exported, Command] of commands) {
    const [, name] = /^(\w+)Command$/.exec(exported) ?? [];
    if (name === undefined || elsewhere.has(name)) continue;
    captured = undefined;
    const failure = await client.send(new Command(input)).catch((error: unknown) => error);
    if (captured === undefined) throw new Error(`The SDK sends no ${name}.`, { cause: failure });
    const { method, path, query, headers } = captured as CapturedRequest;
    requests.push({ name, method, target: path + queryText(query), headers });
  }
  return requests.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).map(([name, value]) =>
    typeof value === "string" && value !== "" ? `${name}=${encodeURIComponent(value)}` : name,
  );
  return pairs.length === 0 ? "" : `?${pairs.sort().join("&")}`;
}
