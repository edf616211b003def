// Routes for the lifecycle, CORS and lock rules of a bucket. The model validates the rules, also while
// the user is typing.
import type { Engine } from "../../engine/engine.ts";
import type { BucketSettings } from "../../model/bucket.ts";
import { shownLifecycle } from "../../model/settings/lifecycle.ts";
import { corsFlaws, lifecycleFlaws, lockRuleFlaws, type RuleFlaw } from "../../model/settings/rule-check.ts";
import { isFields } from "../../model/shape.ts";
import { ConsoleError, json } from "../response.ts";
import type { Call, Fields, Route } from "../route.ts";
import type { FlawsDocument, RulesDocument } from "../wire-settings.ts";
import { type JsonFields, parseCorsRule, parseLifecycleRule, parseLockRule } from "./rule-shapes.ts";
import { changeSetting, markSetting, requireBucket } from "./setting-changes.ts";

const path = "/api/rules";
const needs = { right: "administer", on: "bucket", in: "query" } as const;
/** Room for 1,000 rules. */
const maxJsonBytes = 256 * 1024;

/** Rules of one kind, parsed from JSON. */
interface ParsedRules {
  readonly setting: "lifecycle" | "cors" | "lockRules";
  readonly changes: BucketSettings;
  readonly flaws: readonly RuleFlaw[];
}

export function ruleRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const { settings } = await requireBucket(engine, query.text("bucket"));
        const { cors = [], lockRules: locks = [] } = settings;
        const { rules: lifecycle, isDefault: isDefaultLifecycle } = shownLifecycle(settings.lifecycle);
        const seen = {
          lifecycle: markSetting(settings.lifecycle),
          cors: markSetting(settings.cors),
          locks: markSetting(settings.lockRules),
        };
        return json({ lifecycle, isDefaultLifecycle, cors, locks, seen } satisfies RulesDocument);
      },
    },
    {
      method: "POST",
      path: `${path}/check`,
      // The right that saving needs: checking is work for the server, and only an editor of rules needs it.
      needs,
      maxJsonBytes,
      async run({ query, fields }) {
        const { flaws } = parseRules(query.text("kind"), parseRuleList(await fields()));
        return json({ flaws } satisfies FlawsDocument);
      },
    },
    {
      method: "PUT",
      path,
      needs,
      maxJsonBytes,
      run: (call) => putRules(engine, call),
    },
  ];
}

async function putRules(engine: Engine, { query, fields }: Call) {
  const bucket = await requireBucket(engine, query.text("bucket"));
  const given = await fields();
  const { setting, changes, flaws } = parseRules(query.text("kind"), parseRuleList(given));
  const [first] = flaws;
  if (first !== undefined) throw new ConsoleError(400, first.message);
  return json(await changeSetting(engine, bucket, { name: setting, changes, seen: given.text("seen") }));
}

/** An empty list removes the setting, except for lifecycle: there it also disables the default rule. */
function parseRules(kind: string, given: readonly JsonFields[]): ParsedRules {
  if (kind === "lifecycle") {
    const lifecycle = given.map(parseLifecycleRule);
    return { setting: "lifecycle", changes: { lifecycle }, flaws: lifecycleFlaws(lifecycle) };
  }
  if (kind === "cors") {
    const cors = given.map(parseCorsRule);
    const changes = { cors: cors.length === 0 ? undefined : cors };
    return { setting: "cors", changes, flaws: corsFlaws(cors) };
  }
  if (kind !== "locks") throw new ConsoleError(400, '"kind" must be lifecycle, cors or locks.');
  const lockRules = given.map(parseLockRule);
  const changes = { lockRules: lockRules.length === 0 ? undefined : lockRules };
  return { setting: "lockRules", changes, flaws: lockRuleFlaws(lockRules) };
}

function parseRuleList(fields: Fields): JsonFields[] {
  const rules = fields.list("rules") ?? [];
  if (rules.every(isFields)) return [...rules] as JsonFields[];
  throw new ConsoleError(400, '"rules" must be a list of objects.');
}
