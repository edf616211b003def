// The rules that wait for an event, as the text that is stored beside it. Names of rules have no
// spaces, and the list of one rule is its name.

export function formatRules(rules: readonly string[]): string {
  return rules.join(" ");
}

export function parseRules(text: string): readonly string[] {
  return text.split(" ");
}

/** Counts the events of each rule, from the number of events of each list, sorted by rule. */
export function countByRule(
  lists: Iterable<readonly [rules: string, events: number]>,
): { rule: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const [rules, events] of lists)
    for (const rule of parseRules(rules)) counts.set(rule, (counts.get(rule) ?? 0) + events);
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([rule, count]) => ({ rule, count }));
}
