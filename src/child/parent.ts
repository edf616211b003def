// The child's connection to its parent: the message pipe and the shared listening socket.
import console from "node:console";
import { Socket } from "node:net";
import process from "node:process";
import { openChannel } from "./channel.ts";
import { type WatchParent, watchParent } from "./parent-death.ts";

/** File descriptors of the pipe to the parent and of the listening socket, if there is one. */
export const channelDescriptor = 3;
export const listenerDescriptor = 4;

export interface Parent<Outgoing extends object> {
  send(message: Outgoing): void;
  /** Exits this process after all messages sent so far are written. */
  exit(): void;
}

/** Exits this process when the pipe closes, so that a child never outlives its parent. */
export function connectParent<Incoming extends object, Outgoing extends object>(
  onMessage: (message: Incoming) => void,
): Parent<Outgoing> {
  const pipe = new Socket({ fd: channelDescriptor });
  const channel = openChannel(pipe, {
    // The parent is trusted, so the shape of its messages is not checked.
    onMessage(value) {
      const message = value as Incoming | WatchParent;
      if ("kind" in message && message.kind === "watch parent") watchParent(message as WatchParent);
      else onMessage(message as Incoming);
    },
    onFault(why) {
      console.error(`A message of the parent process is not valid: ${why}`);
      process.exit(1);
    },
    onClose: () => process.exit(),
  });
  return { send: (message) => void channel.send(message), exit: () => void pipe.end(() => process.exit()) };
}
