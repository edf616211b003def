// Interface of delivery targets: webhooks and scripts. A target reports which events arrived.
import type { Delivery } from "./message.ts";

export interface Target {
  /** Name for the log, without secrets. */
  readonly displayName: string;
  deliver(deliveries: readonly Delivery[]): Promise<DeliveryResult>;
  close(): void;
}

export interface DeliveryResult {
  /** Outbox ids of events that arrived and are not sent again. */
  readonly received: readonly number[];
  /** Why the other events did not arrive. */
  readonly failure?: string | undefined;
}

/** Scripts that run in this process. */
export interface ScriptTargets {
  has(name: string): boolean;
  deliver(name: string, bucket: string, deliveries: readonly Delivery[]): Promise<DeliveryResult>;
}
