// Routes for the lifecycle and CORS rules of a bucket. The model validates the rules, also while
// the user is typing.
import type { Engine } from "../../engine/engine.ts";
import type { CorsRule } from "../../model/cors.ts";
import { defaultLifecycle, type LifecycleRule, type When } from "../../model/lifecycle.ts";
import { corsFlaws, lifecycleFlaws, type RuleFlaw } from "../../model/rule-check.ts";
import { isFields } from "../../model/shape.ts";
import { ConsoleError, json, noContent } from "../response.ts";
import type { Call, Fields, Route } from "../route.ts";
import type { FlawsDocument, RulesDocument } from "../wire-types.ts";

const path = "/api/rules";

/** Lifecycle or CORS rules, parsed from JSON. */
type ParsedRules =
  | { readonly kind: "lifecycle"; readonly rules: LifecycleRule[]; readonly flaws: RuleFlaw[] }
  | { readonly kind: "cors"; readonly rules: CorsRule[]; readonly flaws: RuleFlaw[] };

export function ruleRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      async run({ query }) {
        const { settings } = await requireBucket(engine, query.text("bucket"));
        const rules: RulesDocument = {
          lifecycle: settings.lifecycle ?? defaultLifecycle,
          cors: settings.cors ?? [],
        };
        return json(rules);
      },
    },
    {
      method: "POST",
      path: `${path}/check`,
      async run(call) {
        const { flaws } = await readRules(call);
        return json({ flaws } satisfies FlawsDocument);
      },
    },
    {
      method: "PUT",
      path,
      async run(call) {
        const bucket = call.query.text("bucket");
        await requireBucket(engine, bucket);
        const { kind, rules, flaws } = await readRules(call);
        const [first] = flaws;
        if (first !== undefined) throw new ConsoleError(400, first.message);
        // An empty list removes all CORS rules; for lifecycle it also disables the default rule.
        const change = kind === "cors" && rules.length === 0 ? { cors: undefined } : { [kind]: rules };
        await engine.changeSettings(bucket, change);
        return noContent();
      },
    },
  ];
}

async function requireBucket(engine: Engine, bucket: string) {
  const found = await engine.bucket(bucket);
  if (found !== undefined) return found;
  throw new ConsoleError(404, "This bucket no longer exists.");
}

async function readRules({ query, fields }: Pick<Call, "query" | "fields">): Promise<ParsedRules> {
  const kind = query.text("kind");
  const given = parseRuleList(await fields());
  if (kind === "lifecycle") {
    const rules = given.map(lifecycleRule);
    return { kind, rules, flaws: lifecycleFlaws(rules) };
  }
  if (kind !== "cors") throw new ConsoleError(400, '"kind" must be lifecycle or cors.');
  const rules = given.map(corsRule);
  return { kind, rules, flaws: corsFlaws(rules) };
}

type JsonFields = Readonly<Record<string, unknown>>;

function parseRuleList(fields: Fields): JsonFields[] {
  const rules = fields.list("rules") ?? [];
  if (rules.every(isFields)) return [...rules] as JsonFields[];
  throw new ConsoleError(400, '"rules" must be a list of objects.');
}

function lifecycleRule(given: JsonFields, index: number): LifecycleRule {
  return {
    id: optionalText(given, "id")?.trim() || `rule-${index + 1}`,
    isEnabled: given.isEnabled === true,
    prefix: optionalText(given, "prefix") ?? "",
    largerThan: optionalNumber(given, "largerThan"),
    smallerThan: optionalNumber(given, "smallerThan"),
    expire: parseWhen(given, "expire"),
    transition: parseWhen(given, "transition"),
    abortUploadsAfter: optionalNumber(given, "abortUploadsAfter"),
  };
}

function corsRule(given: JsonFields): CorsRule {
  return {
    id: optionalText(given, "id")?.trim() || undefined,
    origins: textList(given, "origins"),
    methods: textList(given, "methods"),
    headers: textList(given, "headers"),
    exposed: textList(given, "exposed"),
    maxAgeSeconds: optionalNumber(given, "maxAgeSeconds"),
  };
}

function optionalText(given: JsonFields, name: string): string | undefined {
  const value = given[name];
  return typeof value === "string" ? value : undefined;
}

/** Passes invalid numbers to the validation, which reports them. */
function optionalNumber(given: JsonFields, name: string): number | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  return typeof value === "number" ? value : Number.NaN;
}

function textList(given: JsonFields, name: string): string[] {
  const value = given[name];
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function parseWhen(given: JsonFields, name: string): When | undefined {
  const value = given[name];
  if (!isFields(value)) return undefined;
  const date = optionalNumber(value, "date");
  return date === undefined ? { days: optionalNumber(value, "days") ?? Number.NaN } : { date };
}
