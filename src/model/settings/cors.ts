// CORS rules: which web pages can access a bucket from a browser. The first matching rule applies
// (Fetch 3.2).

export interface CorsRule {
  readonly id?: string | undefined;
  /** Allowed origins, each with at most one `*`. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Allowed request headers, case-insensitive, each with at most one `*`. */
  readonly headers: readonly string[];
  /** Response headers that the web page can read. */
  readonly exposed: readonly string[];
  readonly maxAgeSeconds?: number | undefined;
}

export interface CorsRequest {
  readonly origin: string;
  readonly method: string;
  /** Names of the request headers in lower case. */
  readonly headers: readonly string[];
}

/** A preflight request that names more headers is refused. Browsers send a handful. */
export const maxRequestedHeaders = 100;

export function corsRuleFor(rules: readonly CorsRule[], request: CorsRequest): CorsRule | undefined {
  const { origin, method, headers } = request;
  if (headers.length > maxRequestedHeaders) return undefined;
  return matchersOf(rules).find(
    (matcher) =>
      matcher.methods.has(method) &&
      isMatch(matcher.origins, origin) &&
      headers.every((header) => isMatch(matcher.headers, header)),
  )?.rule;
}

interface RuleMatcher {
  readonly rule: CorsRule;
  readonly methods: ReadonlySet<string>;
  readonly origins: TextMatcher;
  readonly headers: TextMatcher;
}

interface TextMatcher {
  readonly texts: ReadonlySet<string>;
  /** What is before and after the `*` of each pattern that has one. */
  readonly wildcards: readonly (readonly [before: string, after: string])[];
}

/** The rules of a bucket stay the same array until they change. */
const knownMatchers = new WeakMap<readonly CorsRule[], readonly RuleMatcher[]>();

function matchersOf(rules: readonly CorsRule[]): readonly RuleMatcher[] {
  const known = knownMatchers.get(rules);
  if (known !== undefined) return known;
  const matchers = rules.map((rule) => ({
    rule,
    methods: new Set(rule.methods),
    origins: toMatcher(rule.origins),
    headers: toMatcher(rule.headers.map((name) => name.toLowerCase())),
  }));
  knownMatchers.set(rules, matchers);
  return matchers;
}

function toMatcher(patterns: readonly string[]): TextMatcher {
  const wildcards = patterns.flatMap((pattern): TextMatcher["wildcards"] => {
    const star = pattern.indexOf("*");
    return star === -1 ? [] : [[pattern.slice(0, star), pattern.slice(star + 1)]];
  });
  // A pattern with a wildcard also matches itself, so it does no harm among the texts.
  return { texts: new Set(patterns), wildcards };
}

function isMatch({ texts, wildcards }: TextMatcher, text: string): boolean {
  return (
    texts.has(text) ||
    wildcards.some(
      ([before, after]) =>
        text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after),
    )
  );
}
