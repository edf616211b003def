// Events as S3 tells them, so that whatever was written for S3's events reads these.
import type { ObjectEvent } from "../model/notification.ts";

export interface Delivery {
  /** What it is struck out by. */
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

/** What S3 sends to find out whether somebody is there. */
export function formatTestMessage({ bucket }: Sender, time: number): string {
  return JSON.stringify({
    Service: "Store",
    Event: "s3:TestEvent",
    Time: new Date(time).toISOString(),
    Bucket: bucket,
  });
}

function toRecord({ bucket, rule }: Sender, delivery: Delivery): object {
  const { id, name, time, key, created } = delivery.event;
  return {
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: "auto",
    eventTime: new Date(time).toISOString(),
    // Without the service's name, which is in front of it in rules.
    eventName: name.slice("s3:".length),
    eventId: id,
    responseElements: { "x-amz-request-id": id },
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: rule,
      bucket: { name: bucket, arn: `arn:aws:s3:::${bucket}` },
      object: {
        key: encodeKey(key),
        ...(created === undefined
          ? {}
          : { size: created.size, eTag: created.etag, versionId: created.version }),
        sequencer: formatSequencer(delivery),
      },
    },
  };
}

/** Of two events of one key, the later has the greater, compared as text. */
export function formatSequencer({ entry }: Pick<Delivery, "entry">): string {
  return entry.toString(16).toUpperCase().padStart(16, "0");
}

/** As in a form, which is what S3 does to keys in its messages. */
function encodeKey(key: string): string {
  return new URLSearchParams([["", key]]).toString().slice(1);
}
