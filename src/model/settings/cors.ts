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

export function corsRuleFor(rules: readonly CorsRule[], request: CorsRequest): CorsRule | undefined {
  return rules.find(
    (rule) =>
      rule.origins.some((pattern) => matches(pattern, request.origin)) &&
      rule.methods.includes(request.method) &&
      request.headers.every((header) =>
        rule.headers.some((pattern) => matches(pattern.toLowerCase(), header)),
      ),
  );
}

function matches(pattern: string, text: string): boolean {
  const star = pattern.indexOf("*");
  if (star === -1) return pattern === text;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
