// How a rule's deliveries go, kept in a document for whoever asks: counted in memory, written down now and then, since
// a write for each delivery would cost more than the delivery. What a crash takes of it is a few seconds' counting.
import type { Documents } from "../engine/records.ts";

export interface Progress {
  readonly delivered: number;
  /** Given up because they had become too old, or damaged. */
  readonly dropped: number;
  /** Milliseconds since the epoch. */
  readonly lastDelivered?: number | undefined;
  readonly lastFailure?: { readonly time: number; readonly what: string } | undefined;
}

export interface ProgressKeeper {
  delivered(count: number): void;
  dropped(count: number): void;
  failed(what: string): void;
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
  return document === undefined ? none : (JSON.parse(document.text) as Progress);
}

export async function deleteProgress(documents: Documents, name: string): Promise<void> {
  await documents.delete(kind, name);
}

export function createProgress(documents: Documents, name: string, now: () => number): ProgressKeeper {
  let unsaved: Progress = none;
  let timer: NodeJS.Timeout | undefined;
  let lastSave: Promise<void> = Promise.resolve();

  /** What came since is added to what others have written: the one who delivers may have changed. */
  async function save(): Promise<void> {
    const adding = unsaved;
    if (adding === none) return;
    unsaved = none;
    for (;;) {
      const found = await documents.get(kind, name);
      const before = found === undefined ? none : (JSON.parse(found.text) as Progress);
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
    // It is of no consequence: the next one tells the same.
    lastSave = lastSave.then(save).catch(() => {});
    return lastSave;
  }

  function add(what: Partial<Progress>): void {
    unsaved = { ...unsaved, ...what };
    timer ??= setTimeout(() => void queueSave(), saveMilliseconds).unref();
  }

  return {
    delivered: (count) => add({ delivered: unsaved.delivered + count, lastDelivered: now() }),
    dropped: (count) => add({ dropped: unsaved.dropped + count }),
    failed: (what) => add({ lastFailure: { time: now(), what } }),
    close: queueSave,
  };
}
