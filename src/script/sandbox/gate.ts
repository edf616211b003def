// Asks the gate of a sandbox, the module of Store inside its runtime. Answers are checked by shape:
// a script that has broken out of its isolate could forge them.
import { callSocket } from "../../http/socket-call.ts";
import { isCount, isFields, isList, isText } from "../../model/shape.ts";
import { maxMessageText, type NotificationMessage, type NotificationResult } from "../host/messages.ts";

export interface Gate {
  /** Resolves when the event loop of the runtime has turned. */
  pulse(): Promise<void>;
  scheduled(cron: string, time: number): Promise<void>;
  notify(events: readonly NotificationMessage[]): Promise<NotificationResult>;
}

const maxAnswerBytes = 4 * 1024 * 1024;

export function createGate(socketPath: string): Gate {
  async function ask(path: string, value?: unknown): Promise<unknown> {
    const body = value === undefined ? undefined : JSON.stringify(value);
    const { status, text } = await callSocket({ socketPath, path, body, maxBytes: maxAnswerBytes });
    if (status !== 200) throw new Error(`The runtime answered with status ${status}.`);
    return value === undefined ? text : (JSON.parse(text) as unknown);
  }

  return {
    async pulse() {
      await ask("/pulse");
    },
    async scheduled(cron, time) {
      const answer = await ask("/scheduled", { cron, time });
      if (isFields(answer) && answer.outcome === "ok") return;
      const error = isFields(answer) && isText(answer.error, maxMessageText) ? answer.error : undefined;
      throw new Error(error ?? "The scheduled handler is missing or failed; the script's log has the error.");
    },
    async notify(events) {
      const answer = await ask("/notification", events);
      if (!isFields(answer) || !isList(answer.handled, events.length, isCount))
        throw new Error("The runtime sent another response.");
      const error = isText(answer.error, maxMessageText) ? answer.error : undefined;
      return { handled: answer.handled.filter((index) => index < events.length), error };
    },
  };
}
