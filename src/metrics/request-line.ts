// Formats an exchange as a line of the request log: one JSON object per line.
import type { Exchange } from "./exchange.ts";

/** Operators depend on the field names: see docs/observing.md before changing one. */
export function requestLine(exchange: Exchange, now: number): string {
  return `${JSON.stringify({
    time: new Date(now).toISOString(),
    id: exchange.id,
    face: exchange.frontEnd,
    method: exchange.method,
    operation: exchange.operation,
    bucket: exchange.bucket,
    key: exchange.key,
    status: exchange.status,
    bytesIn: exchange.bytesIn,
    bytesOut: exchange.bytesOut,
    milliseconds: Math.round(exchange.milliseconds * 1000) / 1000,
    accessKeyId: exchange.accessKeyId,
    remoteAddress: exchange.remoteAddress(),
    errorCode: exchange.errorCode,
    cut: exchange.isWhole ? undefined : true,
  })}\n`;
}
