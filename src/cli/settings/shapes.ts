// Shapes of S3's setting documents: the names of `aws s3api` and the elements of the XML.
import { flag, list, number, record, text } from "./json-shape.ts";

const tag = { Key: text, Value: text };
const sizes = { ObjectSizeGreaterThan: number, ObjectSizeLessThan: number };
const when = { Date: text, Days: number };
const noncurrent = { NoncurrentDays: number, NewerNoncurrentVersions: number };

export const lifecycleShape = record({
  Rules: list(
    "Rule",
    record({
      ID: text,
      Prefix: text,
      Status: text,
      Filter: record({
        Prefix: text,
        Tag: record(tag),
        ...sizes,
        And: record({ Prefix: text, Tags: list("Tag", record(tag)), ...sizes }),
      }),
      Expiration: record({ ...when, ExpiredObjectDeleteMarker: flag }),
      Transitions: list("Transition", record({ ...when, StorageClass: text })),
      NoncurrentVersionExpiration: record(noncurrent),
      NoncurrentVersionTransitions: list(
        "NoncurrentVersionTransition",
        record({ ...noncurrent, StorageClass: text }),
      ),
      AbortIncompleteMultipartUpload: record({ DaysAfterInitiation: number }),
    }),
  ),
});

export const corsShape = record({
  CORSRules: list(
    "CORSRule",
    record({
      ID: text,
      AllowedHeaders: list("AllowedHeader", text),
      AllowedMethods: list("AllowedMethod", text),
      AllowedOrigins: list("AllowedOrigin", text),
      ExposeHeaders: list("ExposeHeader", text),
      MaxAgeSeconds: number,
    }),
  ),
});

export const versioningShape = record({ Status: text, MFADelete: { kind: "text", element: "MfaDelete" } });

export const encryptionShape = record({
  Rules: list(
    "Rule",
    record({
      ApplyServerSideEncryptionByDefault: record({ SSEAlgorithm: text, KMSMasterKeyID: text }),
      BucketKeyEnabled: flag,
    }),
  ),
});

export const objectLockShape = record({
  ObjectLockEnabled: text,
  Rule: record({ DefaultRetention: record({ Mode: text, Days: number, Years: number }) }),
});

const filter = record({
  Key: record({ FilterRules: list("FilterRule", record({ Name: text, Value: text })) }, "S3Key"),
});
const events = list("Event", text);

export const notificationShape = record({
  TopicConfigurations: list(
    "TopicConfiguration",
    record({ Id: text, TopicArn: { kind: "text", element: "Topic" }, Events: events, Filter: filter }),
  ),
  LambdaFunctionConfigurations: list(
    "CloudFunctionConfiguration",
    record({
      Id: text,
      LambdaFunctionArn: { kind: "text", element: "CloudFunction" },
      Events: events,
      Filter: filter,
    }),
  ),
});
