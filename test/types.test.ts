// Checks the types that a script author uses against the spec. A failed check is a compile error,
// so the tests do nothing at run time.
import { test } from "node:test";
import type {
  StoreBucket,
  StoreChecksums,
  StoreConditional,
  StoreDeleteMarker,
  StoreGetOptions,
  StoreHTTPMetadata,
  StoreListOptions,
  StoreMultipartOptions,
  StoreMultipartUpload,
  StoreObject,
  StoreObjectBody,
  StoreObjects,
  StoreObjectVersion,
  StoreObjectVersions,
  StorePresigningBucket,
  StorePutOptions,
  StoreRange,
  StoreUploadedPart,
} from "../src/index.ts";

/** Whether two types are identical, including `readonly` and `?`. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Whether type A is assignable to type B. */
type Fits<A, B> = [A] extends [B] ? true : false;

type Optional<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];
type Resolved<F extends (...args: never[]) => unknown> = Awaited<ReturnType<F>>;
type Value = ReadableStream | ArrayBuffer | ArrayBufferView | string | Blob;

function holds<_Check extends true>(): void {}

/** Never used at run time: the tests check only its type. */
declare const bucket: StoreBucket;
declare const versioned: StorePresigningBucket;

test("spec 2.2: the fields of StoreObject have the specified types", () => {
  holds<Equal<StoreObject["key"], string>>();
  holds<Equal<StoreObject["version"], string>>();
  holds<Equal<StoreObject["size"], number>>();
  holds<Equal<StoreObject["etag"], string>>();
  holds<Equal<StoreObject["httpEtag"], string>>();
  holds<Equal<StoreObject["uploaded"], Date>>();
  holds<Equal<NonNullable<StoreObject["httpMetadata"]>, StoreHTTPMetadata>>();
  holds<Equal<NonNullable<StoreObject["customMetadata"]>, Record<string, string>>>();
  holds<Fits<NonNullable<StoreObject["range"]>, StoreRange>>();
  holds<Equal<StoreObject["checksums"], StoreChecksums>>();
  holds<Fits<"Standard" | "InfrequentAccess", StoreObject["storageClass"]>>();
  holds<Fits<StoreObject["storageClass"], string>>();
  holds<Equal<StoreObject["ssecKeyMd5"], string | undefined>>();
  holds<Equal<StoreObject["writeHttpMetadata"], (headers: Headers) => void>>();
});

test("spec 2.3: StoreObjectBody has all fields of StoreObject and its own fields, with the specified types", () => {
  holds<Fits<StoreObjectBody, StoreObject>>();
  holds<Fits<StoreObjectBody["body"], ReadableStream>>();
  holds<Equal<StoreObjectBody["bodyUsed"], boolean>>();
  holds<Equal<StoreObjectBody["arrayBuffer"], () => Promise<ArrayBuffer>>>();
  holds<Equal<StoreObjectBody["text"], () => Promise<string>>>();
  holds<Equal<StoreObjectBody["blob"], () => Promise<Blob>>>();
  const parse = (object: StoreObjectBody) => object.json<{ a: number }>();
  holds<Equal<Resolved<typeof parse>, { a: number }>>();
  const parseUnknown = (object: StoreObjectBody) => object.json();
  holds<Equal<Resolved<typeof parseUnknown>, unknown>>();
});

test("spec 2.3: a StoreObject is not a StoreObjectBody, and the body property distinguishes them", () => {
  holds<Equal<Fits<StoreObject, StoreObjectBody>, false>>();
  const narrow = (object: StoreObject | StoreObjectBody) => ("body" in object ? object : undefined);
  holds<Equal<NonNullable<ReturnType<typeof narrow>>, StoreObjectBody>>();
});

test("spec 2.4: all fields of StoreHTTPMetadata are optional and have the specified types", () => {
  type Field = "contentType" | "contentLanguage" | "contentDisposition" | "contentEncoding" | "cacheControl";
  holds<Equal<keyof StoreHTTPMetadata, Field | "cacheExpiry">>();
  holds<Equal<Optional<StoreHTTPMetadata>, keyof StoreHTTPMetadata>>();
  holds<Equal<StoreHTTPMetadata[Field], string | undefined>>();
  holds<Equal<StoreHTTPMetadata["cacheExpiry"], Date | undefined>>();
});

test("spec 2.5: all fields of StoreChecksums are optional, each an ArrayBuffer", () => {
  type Field = "md5" | "sha1" | "sha256" | "sha384" | "sha512";
  holds<Equal<Optional<StoreChecksums>, Field>>();
  holds<Equal<StoreChecksums[Field], ArrayBuffer | undefined>>();
});

test("spec 2.6: a StoreRange has an offset, an offset and a length, a length, or a suffix", () => {
  holds<Fits<{ offset: number }, StoreRange>>();
  holds<Fits<{ offset: number; length: number }, StoreRange>>();
  holds<Fits<{ length: number }, StoreRange>>();
  holds<Fits<{ suffix: number }, StoreRange>>();
  holds<Equal<Fits<Record<never, never>, StoreRange>, false>>();
  holds<Equal<Fits<{ suffix: string }, StoreRange>, false>>();
});

test("spec 2.7: all fields of StoreConditional are optional and have the specified types", () => {
  holds<Equal<Optional<StoreConditional>, keyof StoreConditional>>();
  holds<Equal<StoreConditional["etagMatches"], string | undefined>>();
  holds<Equal<StoreConditional["etagDoesNotMatch"], string | undefined>>();
  holds<Fits<Date, StoreConditional["uploadedBefore"]>>();
  holds<Fits<Date, StoreConditional["uploadedAfter"]>>();
});

test("spec 2.8: the fields of StoreObjects have the specified types, and only cursor is optional", () => {
  holds<Equal<StoreObjects["objects"], StoreObject[]>>();
  holds<Equal<StoreObjects["truncated"], boolean>>();
  holds<Equal<StoreObjects["cursor"], string | undefined>>();
  holds<Equal<StoreObjects["delimitedPrefixes"], string[]>>();
  holds<Equal<Optional<Extract<StoreObjects, { truncated: false }>>, "cursor">>();
});

test("spec 2.8: a page has a cursor exactly when it is truncated", () => {
  const next = (page: StoreObjects) => (page.truncated ? page.cursor : undefined);
  holds<Equal<Extract<StoreObjects, { truncated: true }>["cursor"], string>>();
  holds<Equal<Extract<StoreObjects, { truncated: false }>["cursor"], undefined>>();
  holds<Equal<ReturnType<typeof next>, string | undefined>>();
  holds<Equal<Fits<{ objects: []; delimitedPrefixes: []; truncated: true }, StoreObjects>, false>>();
});

test("spec 2.9: the members of StoreMultipartUpload have the specified types", () => {
  holds<Equal<StoreMultipartUpload["key"], string>>();
  holds<Equal<StoreMultipartUpload["uploadId"], string>>();
  holds<Equal<Resolved<StoreMultipartUpload["uploadPart"]>, StoreUploadedPart>>();
  holds<Equal<StoreMultipartUpload["abort"], () => Promise<void>>>();
  holds<Equal<Parameters<StoreMultipartUpload["complete"]>, [uploadedParts: StoreUploadedPart[]]>>();
  holds<Equal<Resolved<StoreMultipartUpload["complete"]>, StoreObject>>();
});

test("spec 2.10: StoreUploadedPart has a partNumber and an etag", () => {
  holds<Equal<StoreUploadedPart, { partNumber: number; etag: string }>>();
});

test("spec 2.12: all get options are optional and have the specified types", () => {
  holds<Equal<Optional<StoreGetOptions>, keyof StoreGetOptions>>();
  holds<Fits<StoreConditional | Headers, StoreGetOptions["onlyIf"]>>();
  holds<Fits<StoreRange, StoreGetOptions["range"]>>();
  holds<Fits<ArrayBuffer | string, StoreGetOptions["ssecKey"]>>();
});

test("spec 2.12: all put options are optional and have the specified types", () => {
  holds<Equal<Optional<StorePutOptions>, keyof StorePutOptions>>();
  holds<Fits<StoreConditional, StorePutOptions["onlyIf"]>>();
  holds<Fits<StoreHTTPMetadata | Headers, StorePutOptions["httpMetadata"]>>();
  holds<Fits<Record<string, string>, StorePutOptions["customMetadata"]>>();
  holds<Fits<ArrayBuffer | string, StorePutOptions["md5"]>>();
  holds<Fits<ArrayBuffer | string, StorePutOptions["sha1"]>>();
  holds<Fits<ArrayBuffer | string, StorePutOptions["sha256"]>>();
  holds<Fits<ArrayBuffer | string, StorePutOptions["sha384"]>>();
  holds<Fits<ArrayBuffer | string, StorePutOptions["sha512"]>>();
  holds<Fits<"Standard" | "InfrequentAccess", StorePutOptions["storageClass"]>>();
  holds<Fits<ArrayBuffer | string, StorePutOptions["ssecKey"]>>();
});

test("spec 2.12: all multipart options are optional and have the specified types", () => {
  holds<Equal<Optional<StoreMultipartOptions>, keyof StoreMultipartOptions>>();
  holds<Fits<StoreHTTPMetadata | Headers, StoreMultipartOptions["httpMetadata"]>>();
  holds<Fits<Record<string, string>, StoreMultipartOptions["customMetadata"]>>();
  holds<Fits<"Standard" | "InfrequentAccess", StoreMultipartOptions["storageClass"]>>();
  holds<Fits<ArrayBuffer | string, StoreMultipartOptions["ssecKey"]>>();
});

test("spec 2.12: all list options are optional and have the specified types", () => {
  holds<Equal<Optional<StoreListOptions>, keyof StoreListOptions>>();
  holds<Equal<StoreListOptions["limit"], number | undefined>>();
  holds<Equal<StoreListOptions["prefix"], string | undefined>>();
  holds<Equal<StoreListOptions["cursor"], string | undefined>>();
  holds<Equal<StoreListOptions["delimiter"], string | undefined>>();
  holds<Fits<("httpMetadata" | "customMetadata")[], StoreListOptions["include"]>>();
});

test("spec 4: head returns a StoreObject or null", () => {
  holds<Equal<StoreBucket["head"], (key: string) => Promise<StoreObject | null>>>();
});

test("spec 4: get without onlyIf returns a StoreObjectBody or null", () => {
  const plain = () => bucket.get("key");
  const withOptions = () => bucket.get("key", { range: { offset: 1 }, ssecKey: "key" });
  const withNothing = () => bucket.get("key", {});
  const withUndefined = () => bucket.get("key", { onlyIf: undefined });
  const computed = (name: "ssecKey" | "range") => bucket.get("key", { [name]: "x" });
  holds<Equal<Resolved<typeof plain>, StoreObjectBody | null>>();
  holds<Equal<Resolved<typeof withOptions>, StoreObjectBody | null>>();
  holds<Equal<Resolved<typeof withNothing>, StoreObjectBody | null>>();
  holds<Equal<Resolved<typeof withUndefined>, StoreObjectBody | null>>();
  holds<Equal<Resolved<typeof computed>, StoreObjectBody | null>>();
});

test("spec 4: get with onlyIf returns a StoreObjectBody, a StoreObject or null", () => {
  const byFields = () => bucket.get("key", { onlyIf: { etagMatches: "x" } });
  const byHeaders = () => bucket.get("key", { onlyIf: new Headers(), range: { suffix: 1 } });
  const unknownOptions = (options: StoreGetOptions) => bucket.get("key", options);
  const optionalOptions = (options?: StoreGetOptions | null) => bucket.get("key", options);
  holds<Equal<Resolved<typeof byFields>, StoreObjectBody | StoreObject | null>>();
  holds<Equal<Resolved<typeof byHeaders>, StoreObjectBody | StoreObject | null>>();
  holds<Equal<Resolved<typeof unknownOptions>, StoreObjectBody | StoreObject | null>>();
  holds<Equal<Resolved<typeof optionalOptions>, StoreObjectBody | StoreObject | null>>();
});

test("spec 2.12: an option with a misspelled name does not compile", () => {
  // @ts-expect-error: the name is ssecKey
  void (() => bucket.get("key", { onlyIf: { etagMatches: "x" }, ssecKye: "key" }));
  // @ts-expect-error: the name is range
  void (() => bucket.get("key", { rnge: { offset: 1 } }));
  // @ts-expect-error: the name is etagMatches
  void (() => bucket.put("key", "value", { onlyIf: { etagMatch: "x" } }));
});

test("spec 4: put returns a StoreObject, and null only when onlyIf is given", () => {
  const plain = () => bucket.put("key", "value");
  const withOptions = () => bucket.put("key", "value", { md5: "x", customMetadata: { a: "b" } });
  const conditional = () => bucket.put("key", "value", { onlyIf: { etagMatches: "x" } });
  const unknownOptions = (options: StorePutOptions) => bucket.put("key", "value", options);
  holds<Equal<Resolved<typeof plain>, StoreObject>>();
  holds<Equal<Resolved<typeof withOptions>, StoreObject>>();
  holds<Equal<Resolved<typeof conditional>, StoreObject | null>>();
  holds<Equal<Resolved<typeof unknownOptions>, StoreObject | null>>();
});

test("spec 4: put and uploadPart accept every type of value, and only put accepts null", () => {
  holds<Equal<Parameters<StoreBucket["put"]>[1], Value | null>>();
  holds<Equal<Parameters<StoreMultipartUpload["uploadPart"]>[1], Value>>();
});

test("spec 4: delete takes a key or an array of keys and resolves to undefined", () => {
  holds<Fits<string | string[], Parameters<StoreBucket["delete"]>[0]>>();
  holds<Equal<Resolved<StoreBucket["delete"]>, void>>();
});

test("spec 4: list takes optional options and returns StoreObjects", () => {
  holds<Fits<[] | [StoreListOptions], Parameters<StoreBucket["list"]>>>();
  holds<Equal<Resolved<StoreBucket["list"]>, StoreObjects>>();
});

test("spec 4: createMultipartUpload takes optional options and returns a StoreMultipartUpload", () => {
  holds<Fits<[string] | [string, StoreMultipartOptions], Parameters<StoreBucket["createMultipartUpload"]>>>();
  holds<Equal<ReturnType<StoreBucket["createMultipartUpload"]>, Promise<StoreMultipartUpload>>>();
});

test("spec 4: resumeMultipartUpload returns a StoreMultipartUpload, not a Promise", () => {
  holds<
    Equal<StoreBucket["resumeMultipartUpload"], (key: string, uploadId: string) => StoreMultipartUpload>
  >();
});

test("spec 4: uploadPart takes a part number, a value and optional multipart options", () => {
  holds<
    Fits<
      [number, Value] | [number, Value, StoreMultipartOptions],
      Parameters<StoreMultipartUpload["uploadPart"]>
    >
  >();
});

test("list with versions returns versions, and other lists return objects", () => {
  const versions = () => versioned.list({ versions: true, prefix: "a" });
  const objects = () => versioned.list({ at: new Date(), versions: false });
  const nothing = () => versioned.list();
  holds<Equal<Resolved<typeof versions>, StoreObjectVersions>>();
  holds<Equal<Resolved<typeof objects>, StoreObjects>>();
  holds<Equal<Resolved<typeof nothing>, StoreObjects>>();
  // @ts-expect-error: versions and at cannot be combined
  void (() => versioned.list({ versions: true, at: new Date() }));
});

test("isDeleteMarker distinguishes delete markers from versions with a value", () => {
  const sizeOf = (entry: StoreObjectVersions["objects"][number]) =>
    entry.isDeleteMarker ? undefined : entry.size;
  holds<Equal<ReturnType<typeof sizeOf>, number | undefined>>();
  holds<Fits<StoreObjectVersion, StoreObject>>();
  holds<Equal<Fits<StoreDeleteMarker, StoreObject>, false>>();
});

test("a version is read by get and head, and removed by delete with one key", () => {
  const byVersion = () => versioned.get("key", { version: "x" });
  const byTime = () => versioned.get("key", { at: new Date(), range: { offset: 1 } });
  const head = () => versioned.head("key", { version: "x" });
  holds<Equal<Resolved<typeof byVersion>, StoreObjectBody | null>>();
  holds<Equal<Resolved<typeof byTime>, StoreObjectBody | null>>();
  holds<Equal<Resolved<typeof head>, StoreObject | null>>();
  void (() => [versioned.delete("key", { version: "x" }), versioned.delete(["a", "b"])]);
  // @ts-expect-error: a version belongs to one key
  void (() => versioned.delete(["a", "b"], { version: "x" }));
  // @ts-expect-error: a time is a Date
  void (() => versioned.get("key", { at: 1 }));
  // @ts-expect-error: delete removes a version, not the state at a time
  void (() => versioned.delete("key", { at: new Date() }));
});

test("tags and locks are given to put and changed by methods of their own", () => {
  const until = new Date();
  void (() => versioned.put("key", "", { tags: { a: "b" }, retention: { mode: "governance", until } }));
  void (() => versioned.createMultipartUpload("key", { tags: { a: "b" }, legalHold: true }));
  holds<Equal<Resolved<StorePresigningBucket["setTags"]>, StoreObject>>();
  holds<Equal<StoreObject["tags"], Record<string, string> | undefined>>();
  // @ts-expect-error: the modes are in lower case
  void (() => versioned.setRetention("key", { mode: "GOVERNANCE", until }));
});
