// An event of the outbox as it is stored: its checksum covers the rules that wait for it.
import { verifyText } from "./checksum.ts";

export interface EventRow {
  readonly event: unknown;
  /** Not text if the row is damaged. */
  readonly rule: unknown;
}

/** Returns undefined for a damaged event: it must not block the delivery of later events. */
export function storedEvent({ event, rule }: EventRow): string | undefined {
  try {
    return verifyText(event, "an event", String(rule));
  } catch {
    return undefined;
  }
}
