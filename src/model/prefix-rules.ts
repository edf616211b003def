// Finds the rules of a bucket whose prefix a key begins with. A request may name 1,000 keys of a bucket
// with 1,000 rules, so the rules are found by halves instead of compared one by one.
import type { Key } from "./key.ts";

export interface PrefixRule {
  readonly prefix: string;
}

interface Node<Rule> {
  readonly prefix: string;
  /** The node of the longest prefix that this prefix begins with. */
  readonly parent: Node<Rule> | undefined;
  /** The rules for keys with this prefix, in the order of the list. Found at the first use. */
  rules: readonly Rule[] | undefined;
}

/** The rules of a bucket stay the same array until they change. */
const indexes = new WeakMap<readonly PrefixRule[], readonly Node<PrefixRule>[]>();

/**
 * Returns the rules for the key, in the order of the list.
 *
 * @example rulesForKey([{ prefix: "a/" }, { prefix: "b/" }], "a/1") // [{ prefix: "a/" }]
 */
export function rulesForKey<Rule extends PrefixRule>(rules: readonly Rule[], key: Key): readonly Rule[] {
  if (rules.length === 0) return rules;
  const nodes = (indexes.get(rules) ?? createIndex(rules)) as readonly Node<Rule>[];
  let { node, common } = findLast(nodes, key);
  // Every prefix of the key is also one of the last prefix that is not after the key.
  while (node !== undefined && node.prefix.length > common) node = node.parent;
  if (node === undefined) return [];
  node.rules ??= collectRules(rules, node);
  return node.rules;
}

function createIndex<Rule extends PrefixRule>(rules: readonly Rule[]): readonly Node<Rule>[] {
  const prefixes = [...new Set(rules.map(({ prefix }) => prefix))].sort();
  const nodes: Node<Rule>[] = [];
  for (const prefix of prefixes) {
    let parent = nodes.at(-1);
    const common = parent === undefined ? 0 : commonLength(parent.prefix, prefix, 0);
    while (parent !== undefined && parent.prefix.length > common) parent = parent.parent;
    nodes.push({ prefix, parent, rules: undefined });
  }
  indexes.set(rules, nodes as readonly Node<PrefixRule>[]);
  return nodes;
}

function collectRules<Rule extends PrefixRule>(rules: readonly Rule[], from: Node<Rule>): readonly Rule[] {
  const prefixes = new Set<string>();
  for (let node: Node<Rule> | undefined = from; node !== undefined; node = node.parent)
    prefixes.add(node.prefix);
  return rules.filter(({ prefix }) => prefixes.has(prefix));
}

interface Found<Rule> {
  readonly node: Node<Rule> | undefined;
  /** Number of characters that its prefix has in common with the key. */
  readonly common: number;
}

/** Returns the last node whose prefix is the key or before it, in the order of UTF-16 units. */
function findLast<Rule>(nodes: readonly Node<Rule>[], key: Key): Found<Rule> {
  let [from, to] = [0, nodes.length];
  // What the nodes at both ends have in common with the key, those between have too.
  let before = commonLength(nodes[0]!.prefix, key, 0);
  let after = commonLength(nodes.at(-1)!.prefix, key, 0);
  while (from < to) {
    const middle = (from + to) >> 1;
    const { prefix } = nodes[middle]!;
    const common = commonLength(prefix, key, Math.min(before, after));
    const isAfter = common < prefix.length && !(prefix.charCodeAt(common) < key.charCodeAt(common));
    if (isAfter) [to, after] = [middle, common];
    else [from, before] = [middle + 1, common];
  }
  return { node: nodes[from - 1], common: before };
}

/** Returns the number of equal characters at the start, of which the first `known` are equal. */
function commonLength(a: string, b: string, known: number): number {
  const length = Math.min(a.length, b.length);
  let i = known;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}

/**
 * Returns the shortest prefixes that cover all rules. None of them begins with another.
 *
 * @example outermostPrefixes([{ prefix: "a/" }, { prefix: "a/b" }]) // ["a/"]
 */
export function outermostPrefixes(rules: readonly PrefixRule[]): string[] {
  const nodes = indexes.get(rules) ?? createIndex(rules);
  return nodes.filter(({ parent }) => parent === undefined).map(({ prefix }) => prefix);
}
