// ArrayBuffer.prototype.transfer and related methods, for Node versions without them.

const { structuredClone } = globalThis;

/** Moves the bytes to a new buffer and detaches the old one. */
function transfer(this: ArrayBuffer, newLength?: number): ArrayBuffer {
  const moved = structuredClone(this, { transfer: [this] });
  const length = newLength === undefined ? moved.byteLength : Math.trunc(Number(newLength)) || 0;
  if (length === moved.byteLength) return moved;
  const resized = new ArrayBuffer(length);
  new Uint8Array(resized).set(new Uint8Array(moved, 0, Math.min(length, moved.byteLength)));
  return resized;
}

function isDetached(this: ArrayBuffer): boolean {
  if (this.byteLength > 0) return false;
  try {
    new Uint8Array(this);
    return false;
  } catch {
    return true;
  }
}

export function addArrayBufferTransfer(): void {
  if ("transfer" in ArrayBuffer.prototype) return;
  for (const name of ["transfer", "transferToFixedLength"]) {
    Object.defineProperty(ArrayBuffer.prototype, name, {
      value: transfer,
      writable: true,
      configurable: true,
    });
  }
  Object.defineProperty(ArrayBuffer.prototype, "detached", { get: isDetached, configurable: true });
}
