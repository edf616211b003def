// Settings that S3 does not have: lock rules, the quota and the publication of a bucket. Their
// documents have the field names of R2, of `store quota` and of `store bucket public`.
import { parseIsoTime } from "../../model/iso-time.ts";
import type { LockCondition, LockRule } from "../../model/lock.ts";
import type { Publication } from "../../model/settings/publication.ts";
import { parseQuota } from "../../model/settings/quota.ts";
import { lockRuleFlaws } from "../../model/settings/rule-check.ts";
import { type Fields, isFields, isList, isText } from "../../model/shape.ts";
import { PublicationError, publish } from "../../public/publications.ts";
import { type CommandError, usageError } from "../framework/command-error.ts";
import { parseJson, refuseFlaws } from "./s3-document.ts";
import type { FilesSetting } from "./setting.ts";

const maxText = 4096;

export const lockSetting: FilesSetting = {
  title: "lock rules",
  action: "change lock rules",
  needsFiles: true,
  show({ settings: { lockRules = [] } }) {
    return lockRules.length === 0 ? undefined : { rules: lockRules.map(lockRuleJson) };
  },
  parse(document) {
    const value = parseJson(document);
    const rules = isFields(value) ? value.rules : value;
    if (!isList(rules, 1000, isFields) || rules.length === 0) {
      throw wrongDocument('{"rules": [{"id", "enabled", "prefix", "condition"}, …]}');
    }
    const lockRules = rules.map(parseLockRule);
    refuseFlaws(lockRuleFlaws(lockRules));
    return async ({ engine }, { name }) => {
      await engine.changeSettings(name, { lockRules });
      return undefined;
    };
  },
  remove: ({ engine }, { name }) => engine.changeSettings(name, { lockRules: undefined }),
};

function lockRuleJson({ id, isEnabled, prefix, condition }: LockRule) {
  return { id, enabled: isEnabled, prefix, condition: conditionJson(condition) };
}

function conditionJson(condition: LockCondition) {
  if (condition.kind === "age") return { type: "Age", maxAgeSeconds: condition.seconds };
  if (condition.kind === "date") return { type: "Date", date: new Date(condition.date).toISOString() };
  return { type: "Indefinite" };
}

function parseLockRule(given: Fields, index: number): LockRule {
  checkFields(given, ["id", "enabled", "prefix", "condition"], `rules[${index}]`);
  const { id, enabled = true, prefix = "", condition } = given;
  if (!isText(id, maxText) || typeof enabled !== "boolean" || !isText(prefix, maxText)) {
    throw usageError(`rules[${index}] needs an "id"; "enabled" is true or false, and "prefix" a string.`);
  }
  return {
    id,
    isEnabled: enabled,
    prefix,
    condition: parseCondition(condition, `rules[${index}].condition`),
  };
}

function parseCondition(value: unknown, at: string): LockCondition {
  const given = isFields(value) ? value : {};
  checkFields(given, ["type", "maxAgeSeconds", "date"], at);
  const { type, maxAgeSeconds, date } = given;
  if (type === "Indefinite") return { kind: "indefinite" };
  if (type === "Age" && typeof maxAgeSeconds === "number") return { kind: "age", seconds: maxAgeSeconds };
  if (type === "Date" && isText(date, maxText))
    return { kind: "date", date: parseIsoTime(date) ?? Number.NaN };
  throw usageError(`"${at}" is not a condition; nothing was changed.`, [
    'Write {"type": "Age", "maxAgeSeconds": 86400}, {"type": "Date", "date": "2030-01-01"} or {"type": "Indefinite"}.',
  ]);
}

export const quotaSetting: FilesSetting = {
  title: "quota",
  action: "change quota",
  needsFiles: true,
  show: ({ settings }) => settings.quota,
  parse(document) {
    const quota = parseQuota(parseJson(document));
    if (quota === undefined)
      throw wrongDocument('{"bytes": 10000000000, "objects": 1000000}, or one of both');
    return async ({ engine }, { name }) => {
      await engine.changeSettings(name, { quota });
      return undefined;
    };
  },
  remove: ({ engine }, { name }) => engine.changeSettings(name, { quota: undefined }),
};

export const publicationSetting: FilesSetting = {
  title: "publication",
  action: "change publication",
  needsFiles: true,
  show: ({ settings }) => settings.publication,
  parse(document) {
    const publication = parsePublication(parseJson(document));
    return async (data, { name }) => {
      try {
        await publish(data, name, publication);
      } catch (error) {
        throw error instanceof PublicationError ? usageError(error.message) : error;
      }
      return "Anyone can read the bucket.";
    };
  },
  remove: (data, { name }) => publish(data, name, undefined),
};

function parsePublication(value: unknown): Publication {
  const form = '{"index": "index.html", "notFound": "404.html", "cacheControl": "max-age=60", "domains": []}';
  if (!isFields(value)) throw wrongDocument(form);
  checkFields(value, ["index", "notFound", "cacheControl", "domains"], "the document");
  const { domains = [], ...texts } = value;
  const isName = (item: unknown): item is string => isText(item, maxText);
  if (!isList(domains, 100, isName) || !Object.values(texts).every(isName)) throw wrongDocument(form);
  return { ...texts, ...(domains.length === 0 ? {} : { domains }) };
}

function checkFields(value: Fields, names: readonly string[], at: string): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw usageError(`"${unknown}" is not a field of ${at}; nothing was changed.`, [
    `Fields: ${names.join(", ")}`,
  ]);
}

function wrongDocument(form: string): CommandError {
  return usageError("The document does not have the right form; nothing was changed.", [`Write ${form}.`]);
}
