// Fields of a Request without effect on a server. They are validated, readable, and passed to
// Node's fetch.
import { baseUrl, parseUrl } from "./parse-url.ts";

type Fields = Readonly<Record<string, unknown>>;
export type RequestSettings = Readonly<Record<string, unknown>>;

export const noSettings: RequestSettings = Object.freeze({});

/** Defaults of a Request. */
export const defaultSettings: RequestSettings = {
  cache: "default",
  credentials: "same-origin",
  destination: "",
  duplex: "half",
  integrity: "",
  isHistoryNavigation: false,
  isReloadNavigation: false,
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
};

const enumerations: Readonly<Record<string, readonly string[]>> = {
  cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
  credentials: ["omit", "same-origin", "include"],
  duplex: ["half"],
  mode: ["navigate", "same-origin", "no-cors", "cors"],
  priority: ["high", "low", "auto"],
  redirect: ["follow", "error", "manual"],
  referrerPolicy: [
    ...["", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin"],
    ...["origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url"],
  ],
};

/** Fields that are only validated: `redirect` is stored separately, and fetch ignores the rest. */
const notStored = new Set(["duplex", "priority", "redirect"]);

/** Reads a field that allows only certain words; undefined when it is missing. */
export function readEnumerated(options: Fields, name: string): string | undefined {
  if (options[name] === undefined) return undefined;
  const value = `${options[name] as string}`;
  const allowed = enumerations[name]!;
  if (allowed.includes(value)) return value;
  throw new TypeError(`"${name}" must be one of ${allowed.map((one) => `"${one}"`).join(", ")}: "${value}"`);
}

/** "no-cors" allows only GET, HEAD and POST. */
export function checkMode(method: string, { mode }: RequestSettings): void {
  if (mode === "no-cors" && !["GET", "HEAD", "POST"].includes(method)) {
    throw new TypeError(`A Request with method ${method} cannot have the mode "no-cors".`);
  }
}

/** Settings of a new Request: the inherited settings, overridden by the options. */
export function settingsFrom(options: Fields, inherited: RequestSettings): RequestSettings {
  if (Object.keys(options).length === 0) return inherited;
  // As in the standard, a Request that is created with options does not inherit the referrer.
  const { referrer: _, referrerPolicy: __, ...settings } = inherited as Record<string, unknown>;
  for (const name of Object.keys(enumerations)) {
    const value = readEnumerated(options, name);
    if (value !== undefined && !notStored.has(name)) settings[name] = value;
  }
  if (options.integrity !== undefined) settings.integrity = `${options.integrity as string}`;
  if (options.keepalive !== undefined) settings.keepalive = Boolean(options.keepalive);
  if (options.referrer !== undefined) settings.referrer = referrerFrom(options.referrer);
  checkTogether(options, settings);
  return settings;
}

function checkTogether(options: Fields, { mode = "cors", cache }: Fields): void {
  if (options.window !== undefined && options.window !== null) {
    throw new TypeError('"window" can only be null.');
  }
  if (mode === "navigate")
    throw new TypeError('"mode" cannot be "navigate" in a Request that a script makes.');
  if (cache === "only-if-cached" && mode !== "same-origin") {
    throw new TypeError('"cache" can be "only-if-cached" only with "mode" "same-origin".');
  }
}

function referrerFrom(value: unknown): string {
  const text = `${value as string}`;
  if (text === "") return "";
  const url = parseUrl(text);
  if (url === undefined) throw new TypeError(`"referrer" is not a URL: ${JSON.stringify(text)}`);
  const base = baseUrl();
  const isForeign = base !== undefined && url.origin !== base.origin;
  return isForeign || url.href === "about:client" ? "about:client" : url.href;
}
