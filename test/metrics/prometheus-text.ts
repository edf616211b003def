// A strict parser of Prometheus's text format: an unknown line is an error.
import assert from "node:assert/strict";

/** Sample values by metric name with labels, as written in the text. */
export type Samples = ReadonlyMap<string, number>;

const comment = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/;
const sample =
  /^([a-z_][a-z0-9_]*)(\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,|(?=\})))+\})? (-?[0-9.e+-]+|[+-]Inf|NaN)$/;

export function readPrometheus(text: string): Samples {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  assert.ok(text.endsWith("\n"), "the text ends with a newline");
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, about = "", said = ""] = comment.exec(line) ?? [];
    if (kind === "TYPE") {
      assert.ok(!types.has(about), `${about} occurs once`);
      types.set(about, said);
    }
    if (kind !== undefined) continue;
    const [, name = "", labels = "", , value] = sample.exec(line) ?? assert.fail(`no sample: ${line}`);
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    assert.ok(types.has(family), `${name} has a type`);
    assert.ok(!samples.has(name + labels), `${name}${labels} occurs once`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

/** Returns the metric names in the text, without the suffixes of histograms. */
export function familiesOf(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!);
}
