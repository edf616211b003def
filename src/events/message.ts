// Formats events as the messages of S3, so that consumers written for S3 can read them.
import type { ObjectEvent } from "../model/settings/notification.ts";

export interface Delivery {
  /** Id of the event in the outbox, needed to acknowledge the event. */
  readonly entry: number;
  readonly event: ObjectEvent;
}

export interface Sender {
  readonly bucket: string;
  readonly rule: string;
}

export function formatMessage(sender: Sender, deliveries: readonly Delivery[]): string {
  return JSON.stringify({ Records: deliveries.map((delivery) => toRecord(sender, delivery)) });
}

/** Formats the test message that S3 sends when a rule is created. */
export function formatTestMessage({ bucket }: Sender, time: number): string {
  return JSON.stringify({
    Service: "Store",
    Event: "s3:TestEvent",
    Time: new Date(time).toISOString(),
    Bucket: bucket,
  });
}

function toRecord({ bucket, rule }: Sender, delivery: Delivery): object {
  const { id, name, time, key, created, removed } = delivery.event;
  return {
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: "auto",
    eventTime: new Date(time).toISOString(),
    // Event names begin with "s3:" in rules, but not in messages.
    eventName: name.slice("s3:".length),
    eventId: id,
    responseElements: { "x-amz-request-id": id },
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: rule,
      bucket: { name: bucket, arn: `arn:aws:s3:::${bucket}` },
      object: {
        // S3 form-encodes the keys in its messages.
        key: new URLSearchParams([["", key]]).toString().slice(1),
        ...(created === undefined
          ? {}
          : { size: created.size, eTag: created.etag, versionId: created.version }),
        ...(removed === undefined ? {} : { versionId: removed }),
        sequencer: formatSequencer(delivery),
      },
    },
  };
}

/** Formats the sequencer: a later event of a key has a greater sequencer, compared as text. */
export function formatSequencer({ entry }: Pick<Delivery, "entry">): string {
  return entry.toString(16).toUpperCase().padStart(16, "0");
}
