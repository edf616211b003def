// The parent as a child process sees it: the pipe that it speaks through, and the port that it shares.
import { Socket } from "node:net";
import { openChannel } from "./channel.ts";

/** Where a child finds the pipe to its parent and the listening socket, if it has one. */
export const channelDescriptor = 3;
export const listenerDescriptor = 4;

export interface Parent<Outgoing extends object> {
  send(message: Outgoing): void;
  /** Ends this process once what was sent has been written. */
  exit(): void;
}

/** A child never outlives its parent: it exits when the pipe closes. */
export function connectParent<Incoming, Outgoing extends object>(
  onMessage: (message: Incoming) => void,
): Parent<Outgoing> {
  const pipe = new Socket({ fd: channelDescriptor });
  const channel = openChannel(pipe, {
    // The parent is the one that is trusted.
    onMessage: (value) => onMessage(value as Incoming),
    onFault(why) {
      console.error(`The message of the parent process cannot be read: ${why}`);
      process.exit(1);
    },
    onClose: () => process.exit(),
  });
  return {
    send: (message) => void channel.send(message),
    exit: () => void pipe.end(() => process.exit()),
  };
}
