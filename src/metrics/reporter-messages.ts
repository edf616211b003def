// Messages about metrics and the request log between a process and its supervisor.
import { type Fields, isFields, isList, isText } from "../model/shape.ts";
import type { Family, Snapshot } from "./snapshot.ts";

export type ToObserver = { readonly kind: "report metrics" } | { readonly kind: "lines taken" };
export type FromObserver =
  | { readonly kind: "metrics"; readonly snapshot: Snapshot }
  | { readonly kind: "request lines"; readonly text: string };

/** Maximum characters of log lines in one message; more than a line queue can hold. */
const maxLinesLength = 2 * 1024 * 1024;
const maxFamilies = 1000;
const maxSeries = 20_000;
const maxLabels = 16;
const maxNumbers = 128;
const maxTextLength = 4096;

/** Returns undefined if the message is invalid or not about metrics and logs. */
export function parseFromObserver(message: Fields): FromObserver | undefined {
  const { kind, snapshot, text } = message;
  if (kind === "metrics" && isList(snapshot, maxFamilies, isFamily)) return { kind, snapshot };
  if (kind === "request lines" && isText(text, maxLinesLength)) return { kind, text };
  return undefined;
}

function isFamily(value: unknown): value is Family {
  if (!isFields(value)) return false;
  const { name, help, type, labels, bounds, series } = value;
  return (
    isShortText(name) &&
    /^[a-z_]+$/.test(name) &&
    isShortText(help) &&
    (type === "counter" || type === "gauge" || type === "histogram" || type === "table") &&
    isList(labels, maxLabels, isShortText) &&
    isList(bounds, maxNumbers, isNumber) &&
    isList(series, maxSeries, isSeries)
  );
}

function isSeries(value: unknown): value is Family["series"][number] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    isList(value[0], maxLabels, isShortText) &&
    isList(value[1], maxNumbers, isNumber)
  );
}

function isShortText(value: unknown): value is string {
  return isText(value, maxTextLength);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
