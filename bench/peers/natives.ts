// Start commands of the native servers: one process, one directory, one copy, loopback only.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/cluster-run/sandbox.ts";

/** Access key with full permissions. */
export const benchKey = {
  accessKeyId: "GKbe7c4be7c4be7c4be7c4be7c",
  secretAccessKey: "be7c4".repeat(13).slice(1),
} as const;

export interface Native {
  readonly name: string;
  /** Program name to search on the PATH; also the name of the option that sets its path. */
  readonly program: string;
  readonly isSynced: boolean;
  /** Durability of this server with these settings, as text for the notes. */
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
  /** Configures the running server. `run` executes its program and returns the output. */
  prepare?(run: (...args: string[]) => Promise<string>): Promise<void>;
}

const { accessKeyId, secretAccessKey } = benchKey;

const minio: Native = {
  name: "MinIO",
  program: "minio",
  isSynced: true,
  durability: "one drive, MINIO_FS_OSYNC=on: every file is written with O_SYNC, no folder is synced",
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
      ...["--port", `127.0.0.1:${port}`, "--quiet", "--keep-alive", "posix", directory],
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
        ...[
          "-s3",
          `-s3.port=${port}`,
          "-s3.port.iceberg=0",
          "-s3.port.lance=0",
          `-s3.config=${file}`,
          ...given,
        ],
      ],
    };
  },
};

const garage: Native = {
  name: "Garage",
  program: "garage",
  isSynced: true,
  durability: "one node, one copy, data_fsync and metadata_fsync on",
  async command({ directory, port }) {
    const rpc = `127.0.0.1:${await freePort()}`;
    const file = join(directory, "garage.toml");
    const settings = {
      ...{ metadata_dir: join(directory, "meta"), data_dir: join(directory, "data"), db_engine: "sqlite" },
      ...{ metadata_fsync: true, data_fsync: true, replication_factor: 1 },
      ...{ rpc_bind_addr: rpc, rpc_public_addr: rpc, rpc_secret: secretAccessKey },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const api = `[s3_api]\ns3_region = "us-east-1"\napi_bind_addr = "127.0.0.1:${port}"`;
    writeFileSync(file, `${lines.join("\n")}\n\n${api}\n`, { mode: 0o600 });
    const at = ["-c", file];
    return {
      args: [...at, "server"],
      async prepare(run) {
        const [node = ""] = (await run(...at, "node", "id", "-q")).split("@");
        await run(...at, "layout", "assign", "-z", "here", "-c", "8G", node);
        await run(...at, "layout", "apply", "--version", "1");
        await run(...at, "key", "import", "--yes", "-n", "bench", accessKeyId, secretAccessKey);
        await run(...at, "key", "allow", "--create-bucket", accessKeyId);
      },
    };
  },
};

export const natives: readonly Native[] = [minio, versitygw, seaweed, garage];
