// Mutations that keep a request valid HTTP: they change one part and keep the framing, so that the
// code after the HTTP parser is tested too.
import type { Random } from "../../support/random.ts";

export type Spoil = (text: string) => string;

/** Mutates the target, a header or the body of the request. */
export function spoilInFrame(request: string, random: Random, spoil: Spoil): string {
  const end = request.indexOf("\r\n\r\n");
  const [first = "", ...lines] = request.slice(0, end).split("\r\n");
  const body = request.slice(end + 4);
  const kind = random.below(3);
  if (kind === 0) {
    const [method = "GET", target = "/"] = first.split(" ");
    const spoiled = spoil(target).replace(/[^\x21-\x7e]/g, (c) => encodeURIComponent(c));
    return joined(`${method} /${spoiled.replace(/^\/?/, "")} HTTP/1.1`, lines, body);
  }
  if (kind === 1 || body === "") {
    const at = random.below(lines.length);
    const [name, ...value] = (lines[at] ?? "a: b").split(": ");
    // The headers that frame the body stay unchanged.
    if (/^(?:content-length|transfer-encoding)$/i.test(name!)) return request;
    return joined(
      first,
      lines.with(at, `${name}: ${spoil(value.join(": ")).replace(/[\0-\x1f\x7f]/g, "")}`),
      body,
    );
  }
  const spoiled = spoil(body);
  const counted = lines.map((line) =>
    line.replace(/^content-length: .*/i, `content-length: ${spoiled.length}`),
  );
  return joined(first, counted, spoiled);
}

function joined(first: string, lines: readonly string[], body: string): string {
  return [first, ...lines, "", body].join("\r\n");
}
