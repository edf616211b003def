// Where events go: a webhook, or a script. Whatever it is, it says which of them have arrived.
import type { Delivery } from "./message.ts";

export interface Target {
  /** For people; nothing in it is secret. */
  readonly displayName: string;
  deliver(deliveries: readonly Delivery[]): Promise<DeliveryResult>;
  close(): void;
}

export interface DeliveryResult {
  /** Entries of those that arrived: they are never sent again. */
  readonly received: readonly number[];
  /** Why the others did not. */
  readonly failure?: string | undefined;
}

/** The scripts that run here. */
export interface ScriptTargets {
  has(name: string): boolean;
  deliver(name: string, bucket: string, deliveries: readonly Delivery[]): Promise<DeliveryResult>;
}
