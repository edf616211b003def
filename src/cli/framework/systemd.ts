// Notifies systemd of the server's state, for units of Type=notify. Node has no Unix datagram
// sockets, so systemd's own program sends the message.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { errorMessage } from "../../model/errors.ts";
import type { Invocation } from "./command.ts";

const timeoutMilliseconds = 10_000;

/** Does nothing if the server was not started by a unit of Type=notify. */
export async function notifySystemd(
  state: "READY=1" | "STOPPING=1",
  { environment, output }: Pick<Invocation, "environment" | "output">,
): Promise<void> {
  const { NOTIFY_SOCKET, PATH } = environment;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === "") return;
  try {
    // The program needs no other variable; the environment may contain secrets.
    await promisify(execFile)("systemd-notify", [state], {
      env: { NOTIFY_SOCKET, ...(PATH === undefined ? {} : { PATH }) },
      timeout: timeoutMilliseconds,
    });
  } catch (error) {
    output.note(
      `systemd was not notified of ${state}: ${errorMessage(error)}. ` +
        "Install systemd-notify, or use Type=exec in the unit.",
    );
  }
}
