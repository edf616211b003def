// Tells a client that asked first to go on with its body.
import type { ServerResponse } from "node:http";

/** Behind another answer it waits for its turn: Node would put our own head before what was said until then. */
export function sayContinue(response: ServerResponse): void {
  const say = () => {
    if (!response.headersSent) response.writeContinue();
  };
  if (response.socket === null) response.once("socket", say);
  else say();
}
