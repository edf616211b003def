// How each native server is started: one process, one directory, one copy of the bytes, nothing but loopback.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/cluster-run/grounds.ts";

/** Of one who may do everything. */
export const benchKey = {
  accessKeyId: "GKbe7c4be7c4be7c4be7c4be7c",
  secretAccessKey: "be7c4".repeat(13).slice(1),
} as const;

export interface Native {
  readonly name: string;
  /** Looked for on the PATH, and the name of the option that says where it is. */
  readonly program: string;
  readonly isSynced: boolean;
  /** What it holds of durability as it is started here, for people. */
  readonly durability: string;
  command(place: Place): Command | Promise<Command>;
}

export interface Place {
  readonly directory: string;
  readonly port: number;
}

export interface Command {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const { accessKeyId, secretAccessKey } = benchKey;

const minio: Native = {
  name: "MinIO",
  program: "minio",
  isSynced: true,
  durability: "one drive, MINIO_FS_OSYNC=on: files are written with O_SYNC",
  command: async ({ directory, port }) => ({
    args: [
      ...["server", "--quiet", "--address", `127.0.0.1:${port}`],
      ...["--console-address", `127.0.0.1:${await freePort()}`, directory],
    ],
    env: {
      MINIO_ROOT_USER: accessKeyId,
      MINIO_ROOT_PASSWORD: secretAccessKey,
      MINIO_FS_OSYNC: "on",
      MINIO_BROWSER: "off",
      MINIO_UPDATE: "off",
    },
  }),
};

const versitygw: Native = {
  name: "versitygw",
  program: "versitygw",
  isSynced: false,
  durability: "over plain files (posix); it syncs nothing",
  command: ({ directory, port }) => ({
    args: [
      ...["--access", accessKeyId, "--secret", secretAccessKey, "--region", "us-east-1"],
      ...["--port", `127.0.0.1:${port}`, "--quiet", "posix", directory],
    ],
  }),
};

const seaweed: Native = {
  name: "SeaweedFS",
  program: "weed",
  isSynced: false,
  durability: "`weed server` with its S3 side, one copy; it syncs nothing before it answers",
  async command({ directory, port }) {
    const file = join(directory, "s3.json");
    const credentials = [{ accessKey: accessKeyId, secretKey: secretAccessKey }];
    writeFileSync(file, JSON.stringify({ identities: [{ name: "bench", credentials, actions: ["Admin"] }] }));
    const ports = ["master", "volume", "filer"].flatMap((part) => [`${part}.port`, `${part}.port.grpc`]);
    const given = await Promise.all(
      [...ports, "s3.port.grpc"].map(async (name) => `-${name}=${await freePort()}`),
    );
    return {
      args: [
        ...["server", `-dir=${directory}`, "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false"],
        ...["-volume.max=8", "-master.volumeSizeLimitMB=1024", "-volume.minFreeSpace=1"],
        ...["-s3", `-s3.port=${port}`, "-s3.port.iceberg=0", `-s3.config=${file}`, ...given],
      ],
    };
  },
};

export const natives: readonly Native[] = [minio, versitygw, seaweed];
