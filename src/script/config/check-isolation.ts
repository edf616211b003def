// Checks `isolation` and `outbound`: how a script runs, and what a sandboxed script may fetch.
import { isIP } from "node:net";
import { nearest } from "../../model/names/did-you-mean.ts";
import type { Isolation, IsolationSettings, Outbound } from "../bindings.ts";
import { checkStrings } from "./rules.ts";
import type { Fields, Table } from "./syntax/fields.ts";

export const isolations: readonly Isolation[] = ["process", "sandbox"];
const outboundWords = ["none", "public"] as const;
const maxHosts = 1000;

export function isIsolation(text: string): text is Isolation {
  return isolations.some((isolation) => isolation === text);
}

/** `overrides` are the options of the command line, which apply to all scripts. */
export function checkIsolation(
  fields: Fields,
  top: Table,
  overrides: Partial<IsolationSettings>,
): IsolationSettings {
  const isolation = overrides.isolation ?? readIsolation(fields, top);
  const outbound = overrides.outbound ?? readOutbound(fields, top);
  // Without a script there is no code to isolate: static files are served as always.
  const effective = top.main === undefined ? "process" : isolation;
  if (overrides.outbound === undefined && outbound !== "none" && isolation === "process") {
    fields.report(["outbound"], {
      message: '"outbound" has an effect only in a sandbox.',
      hint: `Add: ${fields.line("isolation", "sandbox")}, or remove it: a process may fetch every address.`,
      at: "key",
    });
  }
  return { isolation: effective, outbound };
}

function readIsolation(fields: Fields, top: Table): Isolation {
  const path = ["isolation"];
  const line = fields.line("isolation", "sandbox");
  const text = fields.string(path, top.isolation, line);
  if (text === undefined) return "process";
  if (isIsolation(text)) return text;
  const near = nearest(text, isolations);
  fields.report(path, {
    message: `There is no isolation ${JSON.stringify(text)}${near === undefined ? "." : `: did you mean ${near}?`}`,
    hint: `Write: ${fields.line("isolation", "process")} or ${line}`,
  });
  return "process";
}

function readOutbound(fields: Fields, top: Table): Outbound {
  const value = top.outbound;
  const path = ["outbound"];
  const example = fields.line("outbound", ["api.example.com", "*.example.org"]);
  if (value === undefined) return "none";
  if (typeof value !== "string") {
    const hosts = checkStrings(fields, path, value, example, (text, element) => {
      const fault = hostFault(text);
      if (fault !== undefined) fields.report(element.path, { message: fault, hint: `Write: ${example}` });
    });
    if (hosts.length > maxHosts) {
      fields.report(path, {
        message: `"outbound" has ${hosts.length} hosts; the maximum is ${maxHosts}.`,
        hint: `Use a pattern: ${fields.line("outbound", ["*.example.org"])}`,
      });
    }
    return hosts;
  }
  const word = outboundWords.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const near = nearest(value, outboundWords);
  const isHost = hostFault(value) === undefined && value.includes(".");
  fields.report(path, {
    message: `"outbound" is "none", "public" or a list of hosts, not ${JSON.stringify(value)}.`,
    hint:
      near === undefined
        ? `Write: ${isHost ? fields.line("outbound", [value]) : example}`
        : `Write: ${fields.line("outbound", near)}`,
  });
  return "none";
}

/** Parses the values of --outbound; throws a RangeError. */
export function parseOutbound(texts: readonly string[]): Outbound {
  const [only] = texts;
  const word = texts.length === 1 ? outboundWords.find((candidate) => candidate === only) : undefined;
  if (word !== undefined) return word;
  for (const text of texts) {
    const isWord = outboundWords.some((candidate) => candidate === text);
    const fault = isWord ? `"${text}" cannot be combined with other values.` : hostFault(text);
    if (fault !== undefined) throw new RangeError(fault);
  }
  return texts;
}

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const namePattern = new RegExp(`^${label}(?:\\.${label})*\\.?$`, "i");

/** Returns what is wrong with a host of `outbound`; undefined if nothing is. */
export function hostFault(text: string): string | undefined {
  const shown = JSON.stringify(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    return `${shown} is a URL: "outbound" takes hosts, without a scheme.`;
  if (isIP(text) === 6) return undefined;
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  const name = host.startsWith("*.") ? host.slice(2) : host;
  const isWildcard = name !== host;
  const isAddress = isIP(name) === 4 || (name.startsWith("[") && isIP(name.slice(1, -1)) === 6);
  const isName = name.length <= 253 && namePattern.test(name) && (!isWildcard || name.includes("."));
  if (isPort && ((isAddress && !isWildcard) || (!isAddress && isName))) return undefined;
  return `${shown} is not a host: it is a name like api.example.com, *.example.org, api.example.com:8443 or an address.`;
}
