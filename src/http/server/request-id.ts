// Request ids: unique across processes and requests, and short enough to read aloud.
import { randomBytes } from "node:crypto";

const processId = randomBytes(4).toString("hex").toUpperCase();
let requests = 0;

export function nextRequestId(): string {
  requests = (requests + 1) % 2 ** 32;
  return processId + requests.toString(16).toUpperCase().padStart(8, "0");
}
