// How much more than its live bytes a process may hold before V8 collects. From Node 22 on, buffers outside of
// V8's heap are collected only after about 64 MiB of them have become garbage; before, after about half of it.
// What a body holds at a time is the same: the bound of 64 MiB is kept on the oldest Node we support.
const MiB = 1024 * 1024;

export const garbageBytes = Number(process.versions.node.split(".")[0]) >= 22 ? 48 * MiB : 0;
