// Counts the deliveries of a rule. Counts are saved once a second, because a write for each
// delivery would cost more than the delivery. A crash loses the counts of the last second.
import type { Documents } from "../engine/records.ts";
import { isCount, isFields } from "../model/shape.ts";
import { parseDocument } from "../model/stored-document.ts";

export interface Progress {
  readonly delivered: number;
  /** Number of events that were dropped because they were too old or damaged. */
  readonly dropped: number;
  /** Milliseconds since the epoch. */
  readonly lastDelivered?: number | undefined;
  readonly lastFailure?: { readonly time: number; readonly what: string } | undefined;
}

export interface ProgressKeeper {
  delivered(count: number): void;
  dropped(count: number): void;
  failed(message: string): void;
  close(): Promise<void>;
}

const kind = "delivery progress";
const saveMilliseconds = 1000;
const none: Progress = { delivered: 0, dropped: 0 };

export function progressName(bucket: string, rule: string): string {
  return `${bucket}/${rule}`;
}

export async function readProgress(documents: Documents, name: string): Promise<Progress> {
  const document = await documents.get(kind, name);
  return document === undefined ? none : parseProgress(document.text);
}

function parseProgress(text: string): Progress {
  return parseDocument(text, "The counts of a notification rule", (value): value is Progress => {
    if (!isFields(value)) return false;
    const { delivered, dropped, lastDelivered, lastFailure } = value;
    const isFailure =
      isFields(lastFailure) && Number.isFinite(lastFailure.time) && typeof lastFailure.what === "string";
    return (
      [delivered, dropped].every(isCount) &&
      (lastDelivered === undefined || Number.isFinite(lastDelivered)) &&
      (lastFailure === undefined || isFailure)
    );
  });
}

export async function deleteProgress(documents: Documents, name: string): Promise<void> {
  await documents.delete(kind, name);
}

export function createProgress(documents: Documents, name: string, now: () => number): ProgressKeeper {
  let unsaved: Progress = none;
  let timer: NodeJS.Timeout | undefined;
  let lastSave: Promise<void> = Promise.resolve();

  /** Adds to the saved counts, because another process may have delivered in the meantime. */
  async function save(): Promise<void> {
    const adding = unsaved;
    if (adding === none) return;
    unsaved = none;
    for (;;) {
      const found = await documents.get(kind, name);
      const before = found === undefined ? none : parseProgress(found.text);
      const after: Progress = {
        ...before,
        ...adding,
        delivered: before.delivered + adding.delivered,
        dropped: before.dropped + adding.dropped,
      };
      if ((await documents.put(kind, name, JSON.stringify(after), found?.revision)) === "committed") return;
    }
  }

  function queueSave(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    // A failed save loses only counts.
    lastSave = lastSave.then(save).catch(() => {});
    return lastSave;
  }

  function add(changes: Partial<Progress>): void {
    unsaved = { ...unsaved, ...changes };
    timer ??= setTimeout(() => void queueSave(), saveMilliseconds).unref();
  }

  return {
    delivered: (count) => add({ delivered: unsaved.delivered + count, lastDelivered: now() }),
    dropped: (count) => add({ dropped: unsaved.dropped + count }),
    failed: (message) => add({ lastFailure: { time: now(), what: message } }),
    close: queueSave,
  };
}
