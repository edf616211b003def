// A process that runs one script, as the supervisor sees it. A process of this user and a sandbox
// implement it.
import type { Standstill } from "../../child/standstill.ts";
import type { Load, NotificationMessage, NotificationResult, ScriptModule } from "./messages.ts";

/** The load message, without settings that are shared by all scripts. */
export interface ScriptLoad extends Omit<Load, keyof PortSettings> {
  /** The bundle for a sandbox; a process loads it from a file. */
  readonly modules?: readonly ScriptModule[] | undefined;
  /** Source map of the first module; a process reads it from the bundle. */
  readonly sourceMap?: string | undefined;
}

export type PortSettings = Pick<Load, "tls" | "trusted" | "observing" | "limits" | "probe">;

export interface HostProcess {
  /** Loads a script; rejects with a LoadError. */
  load(load: ScriptLoad): Promise<void>;
  /** Starts to accept connections on the shared port. */
  accept(): Promise<void>;
  /** Runs the scheduled handler once; rejects with the handler's error. */
  scheduled(cron: string, time: number): Promise<void>;
  /** Runs the notification handler for each event; rejects if the process exits meanwhile. */
  notify(events: readonly NotificationMessage[]): Promise<NotificationResult>;
  /** Returns how long the event loop has been blocked. */
  standstill(): Promise<Standstill>;
  /** Finishes requests in flight, then ends the process. */
  drain(): void;
  kill(): void;
  /** Call when the process is blocked: requests that it has not started go to other processes. */
  abandon(): void;
  /** Calls the listener on `abandon`. Returns a function that removes the listener. */
  onAbandoned(listener: () => void): () => void;
  /** Socket for requests, if the process chooses it itself and sends no status 102 on it. */
  readonly ownSocketPath?: string | undefined;
  /** Counts a request until the returned function is called; `drain` waits for counted requests. */
  readonly beginRequest?: (() => () => void) | undefined;
  /**
   * Counts a WebSocket until the returned function is called; `drain` calls `close`. Undefined if
   * there are too many.
   */
  readonly beginConnection?: ((close: () => void) => (() => void) | undefined) | undefined;
  /** Resolves with the exit code, the signal or the error, as text. */
  readonly ended: Promise<string>;
}

/** The script cannot be loaded. The message contains the script's error and its stack trace. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}
