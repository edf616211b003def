// The target implemented with the S3 API. A broken connection or a 503 counts as no answer.
import { createHash } from "node:crypto";
import { encodeText } from "../../../src/http/sigv4.ts";
import { type Condition, NoAnswer, type Target } from "../../../src/prove/consistency/target.ts";
import { assertWhole, bytesNamed } from "../../../src/prove/consistency/values.ts";
import { type Raw, type RawAnswer, sendRaw, signRaw } from "../../s3/raw.ts";
import type { Key } from "../../s3/scene.ts";

export interface S3Address {
  readonly url: string;
  readonly key: Key;
}

export function s3Target({ url, key: credential }: S3Address, bucket: string): Target {
  async function ask(raw: Raw, ...expected: number[]): Promise<RawAnswer> {
    const signed = signRaw(url, raw, { key: credential, form: "header" });
    const answer = await sendRaw(url, signed).catch((error: unknown) => {
      throw new NoAnswer(String(error));
    });
    if (answer.status === 503) throw new NoAnswer(answer.text);
    if (expected.includes(answer.status)) return answer;
    throw new Error(`${raw.method} ${raw.path} was answered with ${answer.status}: ${answer.text}`);
  }
  const pathOf = (key: string) => `/${bucket}/${key.split("/").map(encodeText).join("/")}`;
  const etagOf = ({ status, headers }: RawAnswer) => (status === 404 ? null : unquoted(headers.etag!));

  return {
    takesSmallParts: false,
    async get(key) {
      const answer = await ask({ method: "GET", path: pathOf(key) }, 200, 404);
      const etag = etagOf(answer);
      if (etag !== null) assertWhole(Buffer.from(answer.text), etag);
      return etag;
    },
    async head(key) {
      return etagOf(await ask({ method: "HEAD", path: pathOf(key) }, 200, 404));
    },
    async list(prefix, startAfter, limit) {
      const query = [
        ["list-type", "2"],
        ["prefix", prefix],
        ["start-after", startAfter],
        ["max-keys", String(limit)],
      ] as const;
      const { text } = await ask({ method: "GET", path: `/${bucket}`, query }, 200);
      const entries = [...text.matchAll(/<Contents>.*?<Key>(.*?)<\/Key>.*?<ETag>(.*?)<\/ETag>/gs)];
      const etags = new Map(entries.map(([, key, etag]) => [key!, unquoted(etag!)]));
      return { etags, truncated: text.includes("<IsTruncated>true</IsTruncated>") };
    },
    async put(key, name, condition) {
      const headers = condition === undefined ? {} : headersOf(condition);
      const raw = { method: "PUT", path: pathOf(key), headers, body: bytesNamed(name) };
      // If-Match on a key that does not exist is answered with 404.
      const refusals = condition === undefined ? [] : [412, 404];
      return (await ask(raw, 200, ...refusals)).status === 200;
    },
    async delete(keys) {
      if (keys.length === 1) {
        await ask({ method: "DELETE", path: pathOf(keys[0]!) }, 204);
        return;
      }
      const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("");
      const body = Buffer.from(`<Delete>${objects}</Delete>`);
      const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
      await ask({ method: "POST", path: `/${bucket}`, query: [["delete", ""]], headers, body }, 200);
    },
  };
}

function headersOf(condition: Condition): Record<string, string> {
  return "etagMatches" in condition
    ? { "if-match": `"${condition.etagMatches}"` }
    : { "if-none-match": condition.etagDoesNotMatch };
}

/** Removes the quotes of an etag, plain or escaped for XML. */
function unquoted(etag: string): string {
  return etag.replaceAll(/"|&quot;|&#34;/g, "");
}
