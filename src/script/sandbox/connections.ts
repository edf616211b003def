// WebSockets between clients and one sandbox. They may last for days, so a sandbox that is replaced
// closes them instead of waiting: clients connect again and reach its successor.

export interface Connections {
  /** Counts a connection until the returned function is called; undefined if it is not accepted. */
  begin(close: () => void): (() => void) | undefined;
  /** Closes all connections, and accepts no more. */
  close(): void;
}

/** The process has 1024 descriptors; half of them are for requests and bindings. */
export const maxConnections = 512;

export function createConnections(max = maxConnections): Connections {
  const open = new Set<() => void>();
  let isClosed = false;
  return {
    begin(close) {
      if (isClosed || open.size >= max) return undefined;
      // Wrapped, because the same function may be given twice.
      const entry = () => close();
      open.add(entry);
      return () => void open.delete(entry);
    },
    close() {
      isClosed = true;
      for (const close of [...open]) close();
      open.clear();
    },
  };
}
