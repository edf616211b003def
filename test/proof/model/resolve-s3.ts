// Turns a drawn command into an S3 request, using the state of the model.
import { encodePath } from "../../../src/http/sigv4.ts";
import { hashBytes } from "../../../src/model/checksums/hashes.ts";
import { bucketName, customerKeys, type S3Call } from "./operation.ts";
import {
  checksumOf,
  chosenParts,
  chosenUpload,
  conditionOptions,
  givenKey,
  keyOf,
  metadata,
  rangeHeader,
} from "./resolve.ts";
import type { Wanted, WantedPage, WantedPart, WantedRead, WantedWrite } from "./wanted.ts";
import type { World } from "./world.ts";

type Headers = Record<string, string>;
type ForS3 = Exclude<Wanted, { do: "sweep" }>;

export async function resolveS3(world: World, wanted: ForS3): Promise<S3Call> {
  switch (wanted.do) {
    case "head":
    case "get":
      return readCall(world, wanted);
    case "put":
      return {
        do: "s3",
        method: "PUT",
        key: wanted.key,
        headers: {
          ...writeHeaders(wanted),
          ...(await conditionOptions(world, wanted.key, wanted.condition)).headers,
          ...checksumHeader(wanted),
        },
        body: wanted.body,
        payload: wanted.payload,
      };
    case "copy":
      return copyCall(world, wanted);
    case "delete":
      return deleteCall(world, wanted);
    case "list":
      return listCall(world, wanted);
    case "create upload":
      return {
        do: "s3",
        method: "POST",
        key: wanted.key,
        query: [["uploads", ""]],
        headers: {
          ...writeHeaders(wanted),
          ...(wanted.checksum === "none"
            ? {}
            : { "x-amz-checksum-algorithm": algorithmOf(wanted).toUpperCase() }),
        },
      };
    case "upload part":
      return partCall(world, wanted);
    case "complete": {
      const { key, id, ...upload } = await chosenUpload(world, wanted.upload);
      const parts = chosenParts({ key, id, ...upload }, wanted.parts);
      const elements = parts.map(
        ([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`,
      );
      return {
        do: "s3",
        method: "POST",
        key,
        query: [["uploadId", id]],
        headers: (await conditionOptions(world, key, wanted.condition)).headers,
        body: `<CompleteMultipartUpload>${elements.join("")}</CompleteMultipartUpload>`,
      };
    }
    case "abort": {
      const { key, id } = await chosenUpload(world, wanted.upload);
      return { do: "s3", method: "DELETE", key, query: [["uploadId", id]] };
    }
    case "lifecycle":
      return lifecycleCall(wanted.rule);
  }
}

async function readCall(world: World, wanted: WantedRead & { do: "head" | "get" }): Promise<S3Call> {
  const { key, range, part, secret, by } = wanted;
  const object = await world.object(key);
  if (wanted.do === "head" && by === "stream") {
    const attributes = "ETag,Checksum,ObjectParts,StorageClass,ObjectSize";
    const headers = {
      ...customerHeaders(givenKey(secret, keyOf(object))),
      "x-amz-object-attributes": attributes,
    };
    return { do: "s3", method: "GET", key, query: [["attributes", ""]], headers };
  }
  return {
    do: "s3",
    method: wanted.do === "head" ? "HEAD" : "GET",
    key,
    ...(part === null ? {} : { query: [["partNumber", String(part)]] as const }),
    headers: {
      ...(await conditionOptions(world, key, wanted.condition)).headers,
      ...(range === null ? {} : { range: rangeHeader(range) }),
      ...customerHeaders(givenKey(secret, keyOf(object))),
      ...(by === "stream" ? { "x-amz-checksum-mode": "ENABLED" } : {}),
    },
  };
}

function customerHeaders(key: string | undefined, of = "x-amz-"): Headers {
  if (key === undefined) return {};
  const bytes = Buffer.from(key, "hex");
  const name = `${of}server-side-encryption-customer-`;
  return {
    [`${name}algorithm`]: "AES256",
    [`${name}key`]: bytes.toString("base64"),
    [`${name}key-md5`]: Buffer.from(hashBytes("md5", bytes)).toString("base64"),
  };
}

const classNames = { Standard: "STANDARD", InfrequentAccess: "STANDARD_IA", unknown: "FROZEN" } as const;
const httpNames: Readonly<Record<string, string>> = {
  contentType: "content-type",
  contentLanguage: "content-language",
  contentDisposition: "content-disposition",
  contentEncoding: "content-encoding",
  cacheControl: "cache-control",
  cacheExpiry: "expires",
};

function writeHeaders({ metadata: which, storageClass, seal }: WantedWrite): Headers {
  const headers: Headers = {};
  const { http, custom } = metadata[which]!;
  for (const [name, value] of Object.entries(http)) {
    headers[httpNames[name]!] = typeof value === "number" ? new Date(value).toUTCString() : value;
  }
  for (const [name, value] of Object.entries(custom)) {
    headers[`x-amz-meta-${name}`] = Buffer.from(value).toString("latin1");
  }
  if (storageClass !== "none") headers["x-amz-storage-class"] = classNames[storageClass];
  return { ...headers, ...customerHeaders(seal === null ? undefined : customerKeys[seal]) };
}

const algorithms = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;

function algorithmOf({ algorithm }: Pick<WantedWrite, "algorithm">) {
  return algorithms[algorithm]!;
}

function checksumHeader(wanted: WantedWrite): Headers {
  const { checksum, body, payload } = wanted;
  // The trailer already contains a checksum.
  if (checksum === "none" || payload === "chunked, with trailer") return {};
  const algorithm = algorithmOf(wanted);
  const value = Buffer.from(checksumOf(algorithm, body, checksum)).toString("base64");
  return { [`x-amz-checksum-${algorithm}`]: value };
}

async function copySource(world: World, from: string): Promise<Headers> {
  const source = await world.object(from);
  return {
    "x-amz-copy-source": encodePath(`/${bucketName}/${from}`),
    ...customerHeaders(keyOf(source), "x-amz-copy-source-"),
  };
}

async function copyCall(world: World, wanted: Extract<Wanted, { do: "copy" }>): Promise<S3Call> {
  const { key, from, replace } = wanted;
  const headers = {
    ...writeHeaders(wanted),
    ...(await copySource(world, from)),
    "x-amz-metadata-directive": replace ? "REPLACE" : "COPY",
  };
  return { do: "s3", method: "PUT", key, headers };
}

async function deleteCall(world: World, wanted: Extract<Wanted, { do: "delete" }>): Promise<S3Call> {
  const { keys, condition } = wanted;
  const [first] = keys;
  if (keys.length === 1) {
    const object = await world.object(first!);
    const bySize = condition?.off === 0 && object !== undefined;
    const headers = bySize
      ? { "x-amz-if-match-size": String(object.size) }
      : (await conditionOptions(world, first!, condition)).headers;
    return { do: "s3", method: "DELETE", key: first!, headers };
  }
  const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`);
  const body = `<Delete>${objects.join("")}</Delete>`;
  const md5 = Buffer.from(hashBytes("md5", Buffer.from(body))).toString("base64");
  return { do: "s3", method: "POST", query: [["delete", ""]], headers: { "content-md5": md5 }, body };
}

async function listCall(world: World, wanted: WantedPage): Promise<S3Call> {
  const { kind, prefix, delimiter, limit, after } = wanted;
  if (kind === "parts") {
    const { key, id } = await chosenUpload(world, wanted.upload);
    const most = limit === null ? [] : [["max-parts", String(limit)] as const];
    return { do: "s3", method: "GET", key, query: [["uploadId", id], ...most] };
  }
  const mark = after === "start" || after === "cursor" ? undefined : after;
  const token = after === "cursor" ? world.cursor : undefined;
  const [first, marker] = (
    {
      objects: [["list-type", "2"], "start-after"],
      "older objects": [undefined, "marker"],
      versions: [["versions", ""], "key-marker"],
      uploads: [["uploads", ""], "key-marker"],
    } as const
  )[kind];
  const query: (readonly [string, string])[] = first === undefined ? [] : [first];
  if (prefix !== "") query.push(["prefix", prefix]);
  if (delimiter !== "") query.push(["delimiter", delimiter]);
  if (limit !== null) query.push([kind === "uploads" ? "max-uploads" : "max-keys", String(limit)]);
  if (mark !== undefined) query.push([marker, mark]);
  if (kind === "objects" && token !== undefined) query.push(["continuation-token", token]);
  return { do: "s3", method: "GET", query };
}

async function partCall(world: World, wanted: WantedPart): Promise<S3Call> {
  const { key, id, ssecKey, algorithm } = await chosenUpload(world, wanted.upload);
  const { number, body, secret, from, isChecked } = wanted;
  const headers: Headers = customerHeaders(givenKey(secret, ssecKey));
  const call = { do: "s3", method: "PUT", key } as const;
  const query = [
    ["partNumber", String(number)],
    ["uploadId", id],
  ] as const;
  if (from !== null) return { ...call, query, headers: { ...headers, ...(await copySource(world, from)) } };
  const checked = algorithms.find((one) => one === algorithm);
  if (isChecked && checked !== undefined) {
    headers[`x-amz-checksum-${checked}`] = Buffer.from(checksumOf(checked, body, "right")).toString("base64");
  }
  return { ...call, query, headers, body, payload: "unsigned" };
}

/** Returns a request that deletes the lifecycle rules, or sets rules that apply within days. */
function lifecycleCall(rule: number): S3Call {
  const rules = [
    undefined,
    "<Filter><Prefix>a</Prefix></Filter><Expiration><Days>2</Days></Expiration>",
    "<Filter><Prefix></Prefix></Filter><Transition><Days>1</Days><StorageClass>STANDARD_IA</StorageClass></Transition>",
    "<Filter><Prefix>dir</Prefix></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload>",
  ];
  const query = [["lifecycle", ""]] as const;
  const text = rules[rule];
  if (text === undefined) return { do: "s3", method: "DELETE", query };
  const body = `<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status>${text}</Rule></LifecycleConfiguration>`;
  const md5 = Buffer.from(hashBytes("md5", Buffer.from(body))).toString("base64");
  return { do: "s3", method: "PUT", query, headers: { "content-md5": md5 }, body };
}
