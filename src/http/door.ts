// Accepts connections for processes that will serve them. Nothing is read from them here, so that each is
// whole when it is handed over.
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface Door {
  readonly port: number;
  /** Lets nobody in any more. */
  close(): void;
}

export function openDoor(
  hand: (socket: Socket) => void,
  address: { readonly host: string; readonly port: number },
): Promise<Door> {
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    hand(socket);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      const { port } = server.address() as AddressInfo;
      resolve({ port, close: () => void server.close() });
    });
  });
}
