// Prints all addresses and some commands to try when `store dev` or `store serve` is ready.
import { relative } from "node:path";
import type { PortAddress } from "../../http/server/shared-listener.ts";
import type { TlsSource } from "../../http/tls/tls.ts";
import { type Location, redactUrl } from "../../model/names/location.ts";
import type { AssetsOptions } from "../../script/bindings.ts";
import type { Mode } from "../../script/context.ts";
import { routesFor, type ScriptServer } from "../../script/supervisor/supervisor.ts";
import type { Invocation } from "../framework/command.ts";
import type { RunningConsole } from "./console/console.ts";
import { portTakenNote, serverUrl } from "./listen-options.ts";
import type { RunningPublic } from "./public.ts";
import type { RunningS3 } from "./s3.ts";
import type { BucketSocket } from "./sockets/bucket-sockets.ts";

export interface ReadyServers {
  /** Undefined when there are no scripts. */
  readonly server: ScriptServer | undefined;
  readonly s3: RunningS3;
  readonly console: RunningConsole;
  readonly publicServer: RunningPublic;
  readonly bucketSockets: readonly BucketSocket[];
  readonly location: Location;
  readonly mode: Mode;
  readonly tls: TlsSource | undefined;
  /** The requested ports. */
  readonly ports: Readonly<Record<"scripts" | "s3" | "console" | "public", PortAddress>>;
}

export async function announce(invocation: Invocation, ready: ReadyServers): Promise<void> {
  const { output, directory } = invocation;
  const { server, s3, console, publicServer, bucketSockets, location, mode, tls, ports } = ready;
  const url = server === undefined ? undefined : `${serverUrl(ports.scripts.host, server.port, tls)}/`;
  const configs = (server?.scripts ?? []).map(({ config }) => config);
  const scripts = configs.map((config) => ({
    name: config.name,
    url: url!,
    routes: routesFor(config, configs, mode),
    buckets: config.buckets.map(({ binding, bucketName }) => ({ binding, bucket: bucketName })),
    kvNamespaces: config.kvNamespaces,
    ...(config.services.length === 0 ? {} : { services: config.services }),
    ...(config.emulated.length === 0 ? {} : { emulated: config.emulated }),
    ...(config.assets === undefined ? {} : { assets: toAssetsJson(config.assets) }),
  }));
  if (output.isJson) {
    const key =
      s3.key === undefined
        ? {}
        : { accessKeyId: s3.key.accessKeyId, secretAccessKey: s3.key.secretAccessKey };
    return output.json({
      url: url ?? null,
      s3: { url: s3.url, ...key },
      console: { url: console.url, ...(console.token === undefined ? {} : { token: console.token }) },
      ...(publicServer.url === undefined ? {} : { public: { url: publicServer.url } }),
      ...(bucketSockets.length === 0 ? {} : { bucketSockets }),
      data: toDataJson(location),
      scripts,
    });
  }
  const rows = scripts.map(
    ({ name, url, routes, buckets, kvNamespaces, services = [], emulated = [], assets }) => [
      name,
      routes === undefined ? "called by other scripts" : routes.length > 0 ? routes.join(" ") : url,
      [
        ...buckets.map(({ binding, bucket }) => `env.${binding} → ${bucket}`),
        ...kvNamespaces.map(({ binding, namespace }) => `env.${binding} → kv ${namespace}`),
        ...services.map(({ binding, service }) => `env.${binding} → script ${service}`),
        ...emulated.map(({ binding, kind }) => `env.${binding} → ${kind}`),
        ...(assets === undefined ? [] : [assetsText(assets, directory)]),
      ].join(", "),
    ],
  );
  if (url === undefined)
    await output.line("No configuration file found: serving the S3 API without scripts.");
  else {
    await output.table([{ name: "SCRIPT" }, { name: "URL" }, { name: "BINDINGS" }], rows);
    await output.line("");
    await output.line(`Listening on ${url}${portTakenNote(ports.scripts, server?.port)}`);
  }
  await output.line(`S3 API on ${s3.url}${portTakenNote(ports.s3, s3.port)}`);
  await output.line(`Console on ${console.url}${portTakenNote(ports.console, console.port)}`);
  if (publicServer.url !== undefined) {
    await output.line(
      `Public buckets on ${publicServer.url}${portTakenNote(ports.public, publicServer.port())}`,
    );
  }
  for (const { path, bucket } of bucketSockets) await output.line(`Bucket ${bucket} on socket ${path}`);
  await output.line(`Data in ${dataText(directory, location)}`);
  if (mode === "dev" && url !== undefined) await printExamples(invocation, url, ready);
}

function toAssetsJson({ binding, directory }: AssetsOptions) {
  return { ...(binding === undefined ? {} : { binding }), directory };
}

function assetsText(assets: ReturnType<typeof toAssetsJson>, directory: string): string {
  const name = assets.binding === undefined ? "assets" : `env.${assets.binding}`;
  return `${name} → ${relative(directory, assets.directory) || "."}/`;
}

function toDataJson(location: Location) {
  if (typeof location === "string") return location;
  return { records: redactUrl(location.records), blobs: redactUrl(location.blobs) };
}

function dataText(directory: string, location: Location): string {
  if (typeof location === "string") return relative(directory, location) || location;
  return `${redactUrl(location.records)}, bytes in ${redactUrl(location.blobs)}`;
}

async function printExamples(
  { output }: Invocation,
  url: string,
  { server, s3, console }: ReadyServers,
): Promise<void> {
  await output.line("");
  await output.line("Try:");
  // Only scripts with a `store` configuration are known to accept a PUT.
  if (server?.scripts.some(({ config }) => config.kind === "store" && config.main !== undefined)) {
    await output.line(`  curl -X PUT --data-binary 'Hello, world!' ${url}hello.txt`);
    await output.line(`  curl ${url}hello.txt`);
    await output.line(`  curl -X DELETE ${url}hello.txt`);
  } else {
    await output.line(`  curl -i ${url}`);
  }
  if (console.token !== undefined) {
    await output.line("");
    await output.line("Sign in to the console with this link, valid until the server stops:");
    // The token is in the fragment, which a browser never sends to a server.
    await output.line(`  ${console.url}/#token=${console.token}`);
  }
  if (s3.key === undefined) return;
  await output.line("");
  await output.line("For S3 clients:");
  await output.line(`  export AWS_ENDPOINT_URL=${s3.url} AWS_REGION=auto`);
  await output.line(`  export AWS_ACCESS_KEY_ID=${s3.key.accessKeyId}`);
  await output.line(`  export AWS_SECRET_ACCESS_KEY=${s3.key.secretAccessKey}`);
}
