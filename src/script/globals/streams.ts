// IdentityTransformStream: passes bytes through unchanged.
import { TransformStream } from "node:stream/web";
import { toBytes } from "../../binding/arguments.ts";

export class IdentityTransformStream extends TransformStream<ArrayBuffer | ArrayBufferView, Uint8Array> {
  constructor() {
    super({
      transform(chunk, controller) {
        const bytes = toBytes(chunk);
        if (bytes === undefined) {
          throw new TypeError(
            `An IdentityTransformStream takes bytes, not a ${typeof chunk}: encode text with TextEncoder first.`,
          );
        }
        controller.enqueue(bytes);
      },
    });
  }
}
