// The configuration of a temporary Ceph cluster on loopback.

export interface CephPlace {
  readonly directory: string;
  readonly fsid: string;
  readonly monitor: string;
  readonly copies: number;
}

export function cephSettings({ directory, fsid, monitor, copies }: CephPlace): string {
  // Messages are not encrypted: with auth none, radosgw hangs during encryption.
  const plain = ["mon_client", "mon_service", "mon_cluster", "cluster", "service", "client"];
  return `[global]
fsid = ${fsid}
mon_host = ${monitor}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
${plain.map((who) => `ms_${who}_mode = crc`).join("\n")}
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
run_dir = ${directory}/run
admin_socket = ${directory}/run/$name.asok
mon_data = ${directory}/mon
osd_data = ${directory}/osd$id
log_file =
log_to_stderr = true
err_to_stderr = true
mon_cluster_log_to_file = false
debug_rocksdb = 0

# Where the disk is large, what is left of it may be few percent and yet plenty.
mon_data_avail_warn = 2
mon_data_avail_crit = 1
paxos_propose_interval = 0.05
paxos_min_wait = 0.01

osd_pool_default_size = ${copies}
osd_pool_default_min_size = ${Math.ceil(copies / 2)}
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_crush_chooseleaf_type = 0
mon_max_pg_per_osd = 1000
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false

# In a file, so that an OSD that was killed comes back with what it had.
osd_objectstore = bluestore
bluestore_block_size = ${4 * 1024 ** 3}
bluestore_cache_autotune = false
bluestore_cache_size = ${64 * 1024 ** 2}

# A daemon silent for some seconds counts as dead; its data is not moved.
osd_heartbeat_interval = 1
osd_heartbeat_grace = 4
mon_osd_min_down_reporters = 1
mon_osd_down_out_interval = 3600

rgw_thread_pool_size = 64
rgw_run_sync_thread = false
`;
}
