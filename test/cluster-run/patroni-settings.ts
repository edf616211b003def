// The configuration of a PostgreSQL node under Patroni that replaces a dead leader within seconds.

export interface PatroniNode {
  readonly name: string;
  readonly port: number;
  /** Port of the node's Patroni API. */
  readonly watchPort: number;
}

export interface PatroniPlace {
  readonly directory: string;
  readonly etcd: string;
  /** The program folder of PostgreSQL. */
  readonly programs: string;
}

export function nodeSettings(node: PatroniNode, { directory, etcd, programs }: PatroniPlace) {
  const watch = `127.0.0.1:${node.watchPort}`;
  const address = `127.0.0.1:${node.port}`;
  return {
    scope: "store",
    name: node.name,
    restapi: { listen: watch, connect_address: watch },
    // With etcd's v2 API, only the holder renews the leader lock. With v3, a frozen leader of
    // Patroni 3.0 takes the lock back from its successor, and acknowledged writes are lost.
    etcd: { hosts: [etcd] },
    bootstrap: {
      dcs: {
        ttl: 6,
        loop_wait: 1,
        retry_timeout: 2,
        maximum_lag_on_failover: 64 * 1024 * 1024,
        // If the database of the primary dies, fail over immediately.
        primary_start_timeout: 0,
        // Every acknowledged commit is on two nodes; without a standby, no commit is acknowledged.
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: parameters() },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }, "data-checksums"],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      bin_dir: programs,
      data_dir: `${directory}/${node.name}`,
      pgpass: `${directory}/${node.name}.pgpass`,
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      authentication: {
        superuser: { username: "postgres", password: "postgres" },
        replication: { username: "replicator", password: "replicator" },
        rewind: { username: "rewinder", password: "rewinder" },
      },
      parameters: { unix_socket_directories: "" },
      pg_hba: [
        "host replication replicator 127.0.0.1/32 scram-sha-256",
        "host all all 127.0.0.1/32 scram-sha-256",
      ],
    },
    tags: { nofailover: false, noloadbalance: false, clonefrom: false, nosync: false },
  };
}

function parameters() {
  return {
    max_connections: 100,
    shared_buffers: "64MB",
    wal_keep_size: "256MB",
    max_wal_size: "512MB",
    password_encryption: "scram-sha-256",
    // Detect the loss of a standby as fast as the loss of a leader.
    wal_sender_timeout: "5s",
    wal_receiver_timeout: "5s",
    // Let a standby follow a new leader immediately.
    wal_retrieve_retry_interval: "200ms",
    log_checkpoints: false,
  };
}
