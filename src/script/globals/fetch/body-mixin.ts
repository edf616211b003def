// Body methods shared by Request and Response.
import { Buffer } from "node:buffer";
import { type Body, isUsed, openStream, readBytes, readText, readTextStream } from "./body.ts";
import { native } from "./native.ts";

/** Adds the body members of a class. `getBody` throws if `this` is not an instance. */
export function defineBodyMembers<T extends { readonly headers: { get(name: string): string | null } }>(
  prototype: T,
  getBody: (owner: T) => Body | undefined,
): void {
  const members = {
    get body() {
      const body = getBody(this as unknown as T);
      return body === undefined ? null : openStream(body);
    },
    get bodyUsed() {
      const body = getBody(this as unknown as T);
      return body !== undefined && isUsed(body);
    },
    async text(this: T) {
      return readText(bodyToRead(this));
    },
    async json(this: T) {
      return JSON.parse(await readText(bodyToRead(this))) as unknown;
    },
    async bytes(this: T) {
      return readBytes(bodyToRead(this));
    },
    async arrayBuffer(this: T) {
      return (await readBytes(bodyToRead(this))).buffer;
    },
    async blob(this: T) {
      return (await toNativeResponse(this, bodyToRead(this))).blob();
    },
    async formData(this: T) {
      return (await toNativeResponse(this, bodyToRead(this))).formData();
    },
    textStream(this: T) {
      return readTextStream(bodyToRead(this));
    },
  };
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    Object.defineProperty(prototype, name, descriptor);
  }

  /** Returns the body to read. Throws the reason of its signal if the body was aborted. */
  function bodyToRead(owner: T): Body | undefined {
    const body = getBody(owner);
    body?.signal?.throwIfAborted();
    return body;
  }

  /** Wraps the body in Node's Response, which parses forms by Content-Type. */
  async function toNativeResponse(owner: T, body: Body | undefined): Promise<Response> {
    const contentType = owner.headers.get("content-type");
    const headers: Record<string, string> =
      contentType === null ? {} : { "content-type": Buffer.from(contentType).toString("latin1") };
    return new native.Response(await readBytes(body), { headers });
  }
}
