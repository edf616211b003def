// Fuzz targets of XML: every document an S3 client can send, and the effect of bucket settings.
import { readXml } from "../../../../src/s3/body/xml-reader.ts";
import { escapeXml } from "../../../../src/s3/body/xml-writer.ts";
import { holds, type Target } from "../target.ts";
import { callOperation, uploadPlaceholder as id, s3Outcome, type World, worldRunner } from "./s3.ts";

const tokens = [
  ...[
    "<",
    "</",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE x>",
    "&",
    "&amp;",
    "&#x0;",
    "&#55296;",
  ],
  ...[
    "&#x10FFFF;",
    "&#1114112;",
    ' a="b"',
    " xmlns='x'",
    "<a>",
    "</a>",
    "<a/>",
    "<x:Key>",
    "\xc3\xbc",
    "\xef\xbb\xbf",
  ],
];

interface DocumentTarget {
  readonly name: string;
  readonly request: string;
  readonly samples: readonly string[];
  readonly tokens: readonly string[];
  /** Checks to run after the document is processed. */
  readonly after?: (world: World) => Promise<void>;
}

function documents({ name, request, samples, tokens: own, after }: DocumentTarget): Target {
  return {
    name: `XML: ${name}`,
    form: "bytes",
    samples,
    tokens: [...tokens, ...own],
    longest: 131_072,
    open: () =>
      worldRunner(async (input, world) => {
        const outcome = await callOperation(`${request}\n\n${input}`, world);
        await after?.(world);
        return outcome;
      }),
  };
}

const complete = documents({
  name: "complete",
  request: `POST /bucket/parts?uploadId=${id}\nhost: h`,
  samples: [
    '<?xml version="1.0" encoding="UTF-8"?><CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Part><PartNumber>1</PartNumber><ETag>"0eadb4ed31a2c9a4c5c0ae8b4a5d4f5c"</ETag></Part></CompleteMultipartUpload>',
    "<CompleteMultipartUpload><Part><ETag>a</ETag><PartNumber>1</PartNumber><ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part><Part><PartNumber>2</PartNumber><ETag>b</ETag></Part></CompleteMultipartUpload>",
  ],
  tokens: ["<Part><PartNumber>", "</PartNumber><ETag>", "</ETag></Part>", "10001"],
});

const remove = documents({
  name: "delete",
  request: "POST /bucket?delete\nhost: h",
  samples: [
    "<Delete><Object><Key>key</Key></Object><Object><Key>a &amp; &#xfc;</Key><VersionId>null</VersionId></Object><Quiet>true</Quiet></Delete>",
    "<Delete><Object><Key>small/\xc3\xbc</Key><ETag>e</ETag><LastModifiedTime>Sun, 15 Nov 2026 12:00:00 GMT</LastModifiedTime><Size>5</Size></Object></Delete>",
  ],
  tokens: ["<Object><Key>", "</Key></Object>", "<Quiet>", "<Size>", "<ETag>"],
});

/** Reads an object: headers that bucket settings add must be sendable. */
async function readObject(world: World): Promise<void> {
  await callOperation("GET /bucket/small/%C3%BC\nhost: h", world);
}

const cors = documents({
  name: "cors",
  request: "PUT /bucket?cors\nhost: h",
  samples: [
    "<CORSConfiguration><CORSRule><ID>a</ID><AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedOrigin>https://*.example.com</AllowedOrigin><AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>300</MaxAgeSeconds></CORSRule></CORSConfiguration>",
  ],
  tokens: [
    "<CORSRule>",
    "</CORSRule>",
    "<AllowedMethod>HEAD</AllowedMethod>",
    "<AllowedOrigin>*</AllowedOrigin>",
    "*",
  ],
  after: async (world) => {
    await callOperation("GET /bucket?cors\nhost: h", world);
  },
});

const lifecycle = documents({
  name: "lifecycle",
  request: "PUT /bucket?lifecycle\nhost: h",
  samples: [
    "<LifecycleConfiguration><Rule><ID>a \xc3\xbc</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>",
    "<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><And><Prefix>s</Prefix><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></And></Filter><Expiration><Date>2030-01-01T00:00:00Z</Date></Expiration><AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>",
    "<LifecycleConfiguration><Rule><ID>n</ID><Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter><Status>Enabled</Status><NoncurrentVersionExpiration><NoncurrentDays>3</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration></Rule></LifecycleConfiguration>",
    "<LifecycleConfiguration><Rule><ID>m</ID><Prefix/><Status>Enabled</Status><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration></Rule></LifecycleConfiguration>",
    "<LifecycleConfiguration><Rule><ID>t</ID><Prefix>p</Prefix><Status>Disabled</Status><Transition><Days>30</Days><StorageClass>STANDARD_IA</StorageClass></Transition></Rule></LifecycleConfiguration>",
  ],
  tokens: [
    "<Rule>",
    "</Rule>",
    "<Days>",
    "999999999",
    "<Date>",
    "275760-09-13",
    "9999-12-31",
    "<Filter>",
    "<Status>Enabled</Status>",
  ],
  after: async (world) => {
    await readObject(world);
    await callOperation("GET /bucket?lifecycle\nhost: h", world);
  },
});

const create = documents({
  name: "create bucket",
  request: "PUT /another-bucket\nhost: h",
  samples: [
    '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>auto</LocationConstraint></CreateBucketConfiguration>',
    "<CreateBucketConfiguration/>",
  ],
  tokens: ["<LocationConstraint>", "us-east-1", "<Location>", "<Tags><Tag><Key>", "</Key><Value>"],
});

const settings: readonly Target[] = [
  documents({
    name: "tags",
    request: "PUT /locked/key?tagging\nhost: h",
    samples: [
      "<Tagging><TagSet><Tag><Key>a \xc3\xbc</Key><Value>b</Value></Tag><Tag><Key>c</Key><Value/></Tag></TagSet></Tagging>",
    ],
    tokens: ["<Tag><Key>", "</Key><Value>", "</Value></Tag>", "aws:", "x".repeat(129)],
    after: async (world) => {
      await callOperation("GET /locked/key?tagging\nhost: h", world);
      await callOperation("HEAD /locked/key\nhost: h", world);
    },
  }),
  documents({
    name: "versioning",
    request: "PUT /bucket?versioning\nhost: h",
    samples: [
      "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
      "<VersioningConfiguration><MfaDelete>Disabled</MfaDelete><Status>Suspended</Status></VersioningConfiguration>",
    ],
    tokens: ["<Status>", "Enabled", "Suspended", "<MfaDelete>"],
    after: readObject,
  }),
];

/** Tests the XML reader alone: accepted text must not change when it is written and read again. */
const reader: Target = {
  name: "XML: reader",
  form: "bytes",
  samples: [
    "<r><a>1</a><b x='y'><![CDATA[<&]]></b><!-- c --><c/></r>",
    "<?xml version='1.0'?>\n<r>\n <n:a>&lt;&#x41;</n:a>\n</r>\n",
  ],
  tokens,
  longest: 131_072,
  open: () => ({
    run(input) {
      const node = readXml(Buffer.from(input, "latin1"), "r");
      const [first] = node.children;
      if (first === undefined || first.children.length > 0) return "taken";
      const again = readXml(Buffer.from(`<r>${escapeXml(first.text)}</r>`), "r");
      holds(again.text === first.text, "a text differs after it is written and read again");
      return "taken, with text";
    },
    outcomeOf: s3Outcome,
  }),
};

export const documentTargets: readonly Target[] = [
  complete,
  remove,
  cors,
  lifecycle,
  create,
  ...settings,
  reader,
];
