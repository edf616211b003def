// The settings of one PostgreSQL node under Patroni, for a cluster that replaces a dead leader within seconds.

export interface PatroniNode {
  readonly name: string;
  readonly port: number;
  /** Where Patroni answers for it. */
  readonly watchPort: number;
}

export interface PatroniPlace {
  readonly directory: string;
  readonly etcd: string;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
}

export function nodeSettings(node: PatroniNode, { directory, etcd, programs }: PatroniPlace) {
  const watch = `127.0.0.1:${node.watchPort}`;
  const address = `127.0.0.1:${node.port}`;
  return {
    scope: "store",
    name: node.name,
    restapi: { listen: watch, connect_address: watch },
    // Over its first API the lock of the leader is only ever renewed by who has it. Over the later one Patroni 3.0 writes
    // it unseen: a leader that stood still takes it back from its successor, and acknowledged writes are lost.
    etcd: { hosts: [etcd] },
    bootstrap: {
      dcs: {
        ttl: 6,
        loop_wait: 1,
        retry_timeout: 2,
        maximum_lag_on_failover: 64 * 1024 * 1024,
        // A primary whose database dies gives way at once.
        primary_start_timeout: 0,
        // An acknowledged commit is on two nodes, always: without a standby nothing is acknowledged.
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
    // A standby that is gone is noticed as fast as a leader.
    wal_sender_timeout: "5s",
    wal_receiver_timeout: "5s",
    // A standby turns to a new leader at once.
    wal_retrieve_retry_interval: "200ms",
    log_checkpoints: false,
  };
}
