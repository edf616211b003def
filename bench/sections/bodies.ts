// Section "bodies": large S3 bodies in every form that clients send, with and without TLS: rate and
// processor time of the server. MD5 on one core and the presigned form are the limits.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { md5Alone } from "../limits.ts";
import { figure, interleave, perSecond, type Round } from "../measure.ts";
import { type BodyClient, openBodyClient } from "../peers/body-client.ts";
import { type BodyForm, encodePut } from "../peers/body-forms.ts";
import { certificateFiles } from "../peers/certificate-files.ts";
import { startWithScript } from "../peers/s3-store.ts";
import { processorMilliseconds } from "../processor-time.ts";
import { type Context, MiB, makeRow, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const bodies: Section = {
  name: "bodies",
  description: "large S3 bodies: presigned, hashed, in signed chunks, with a trailer, and over TLS",
  run,
};

type Transport = "plain" | "TLS";

const forms: readonly BodyForm[] = ["presigned", "hash signed", "signed chunks", "chunks and trailer"];
const key = "large";

interface Side {
  readonly transport: Transport;
  readonly client: BodyClient;
  readonly pid: number;
  readonly url: string;
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly getPath: string;
}

interface Contender {
  readonly side: Side;
  readonly what: string;
  readonly form: BodyForm | "GET";
  send(): Promise<void>;
}

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  const sides: Side[] = [];
  try {
    for (const transport of ["plain", "TLS"] as const)
      sides.push(await startSide(context, transport, started));
    const body = randomBytes((context.quick ? 8 : 64) * MiB);
    const puts = sides.flatMap((side) =>
      forms.map((form): Contender => {
        const encoded = encodePut(side, form, key, body);
        return {
          side,
          form,
          what: `S3 PUT, ${form}, ${side.transport}`,
          send: () => side.client.put(encoded),
        };
      }),
    );
    const md5 = () => md5Alone(body, context.pace.seconds).round();
    await measure(context, puts, body.length, { name: "md5 on one core", round: md5 });
    const gets = sides.map(
      (side): Contender => ({
        ...{ side, form: "GET", what: `S3 GET, ${side.transport}` },
        send: () => side.client.get(side.getPath, body.length),
      }),
    );
    await measure(context, gets, body.length);
  } finally {
    for (const { client } of sides) client.close();
    await Promise.all(started.map(end));
  }
}

async function startSide(context: Context, transport: Transport, started: ChildProcess[]): Promise<Side> {
  const directory = join(context.directory, transport);
  mkdirSync(directory);
  const args = transport === "TLS" ? certificateOptions(directory) : [];
  const { server, s3Url, access } = await startWithScript(directory, started, { args });
  return {
    ...{ transport, url: s3Url, key: access, pid: started.at(-1)!.pid! },
    client: await openBodyClient(s3Url),
    getPath: server.path("GET", key),
  };
}

function certificateOptions(directory: string): string[] {
  const { certificate, key } = certificateFiles(directory);
  return ["--tls-cert", certificate, "--tls-key", key];
}

interface Yardstick {
  readonly name: string;
  readonly round: Round;
}

async function measure(
  context: Context,
  contenders: readonly Contender[],
  size: number,
  yardstick?: Yardstick,
): Promise<void> {
  const { seconds, rounds } = context.pace;
  const scale = size / MiB;
  const processor = contenders.map((): number[] => []);
  const measured = contenders.map(({ side, what, send }, index) => async () => {
    context.progress(what);
    const before = processorMilliseconds(side.pid);
    let count = 0;
    const rate = await perSecond({ lanes: 1, seconds }, async () => {
      await send();
      count++;
    });
    processor[index]!.push((processorMilliseconds(side.pid) - before) / count);
    return rate * scale;
  });
  const limit = yardstick === undefined ? [] : [async () => (await yardstick.round()) * scale];
  const figures = await interleave(rounds, [...measured, ...limit]);
  const [first] = contenders;
  const times = processor.map((values) => figure(values.slice(-rounds)));
  for (const [index, { what, side, form }] of contenders.entries()) {
    const beside = [
      ...(yardstick === undefined ? [] : [{ name: yardstick.name, bar: md5Bar(side.transport, form) }]),
      ...(index === 0 ? [] : [{ name: first!.what, bar: side.transport === "plain" ? 0.8 : undefined }]),
    ];
    const values = [
      figures[index]!,
      ...(yardstick === undefined ? [] : [figures.at(-1)!]),
      ...(index === 0 ? [] : [figures[0]!]),
    ];
    context.row(makeRow({ what, size, lanes: 1, unit: "MiB/s" }, values, beside));
  }
  for (const [index, { what }] of contenders.entries()) {
    const beside = index === 0 ? [] : [{ name: first!.what }];
    const row = { what: `processor time, ${what.slice(3)}`, size, lanes: 1, unit: "ms" } as const;
    context.row(makeRow(row, [times[index]!, ...(index === 0 ? [] : [times[0]!])], beside));
  }
}

function md5Bar(transport: Transport, form: BodyForm | "GET"): number | undefined {
  if (form !== "presigned") return undefined;
  return transport === "plain" ? 0.85 : 0.6;
}
