// The global navigator.
import console from "node:console";
import { availableParallelism } from "node:os";
import process from "node:process";
import type { URL } from "node:url";
import { define } from "./define.ts";
import { scriptFetch } from "./fetch/outbound.ts";

export function installNavigator(userAgent: string): void {
  define(globalThis, { navigator: new Navigator(userAgent), Navigator });
}

export class Navigator {
  readonly #userAgent: string;

  constructor(userAgent: string) {
    this.#userAgent = userAgent;
  }

  get userAgent(): string {
    return this.#userAgent;
  }

  get hardwareConcurrency(): number {
    return availableParallelism();
  }

  get language(): string {
    return "en";
  }

  get languages(): readonly string[] {
    return ["en"];
  }

  get platform(): string {
    return process.platform;
  }

  /** Sends the data in the background, and logs a failure. */
  sendBeacon(url: string | URL, data?: unknown): boolean {
    scriptFetch(url, { method: "POST", body: data ?? null }).then(
      (response) => response.body?.cancel(),
      (error: unknown) => console.error("A beacon could not be sent:", error),
    );
    return true;
  }
}
