import assert from "node:assert/strict";
import { test } from "node:test";
import { buildWall, defaultSandboxLimits } from "../../../../src/script/sandbox/wall/build-wall.ts";
import type { WallOptions, WallTools } from "../../../../src/script/sandbox/wall/types.ts";

const tools: WallTools = {
  bwrap: "/usr/bin/bwrap",
  prlimit: "/usr/bin/prlimit",
  files: [{ from: "/lib/libc.so.6", to: "/lib/libc.so.6" }],
  seccomp: Uint8Array.of(6, 0, 0, 0, 0, 0, 255, 127),
  canLimitThreads: true,
  inheritedFds: [3, 4, 10, 251],
  user: { uid: 65534, gid: 65534 },
};

const options: WallOptions = {
  tools,
  workerd: "/opt/store/workerd",
  files: [{ from: "/data/scripts/a", to: "/script" }],
  sockets: "/run/store/a",
  args: ["serve", "/script/config.capnp"],
  limits: { memoryBytes: 1000, openFiles: 20, threads: 3 },
};

/** Returns the parameters of every occurrence of a bubblewrap option. */
function findOption(args: readonly string[], name: string, parameters: number): string[][] {
  return args.flatMap((arg, index) => (arg === name ? [args.slice(index + 1, index + 1 + parameters)] : []));
}

test("only the given files, four devices and the folder of sockets are mounted", () => {
  const { args } = buildWall(options);
  assert.deepEqual(findOption(args, "--ro-bind", 2), [
    ["/lib/libc.so.6", "/lib/libc.so.6"],
    ["/usr/bin/prlimit", "/bin/prlimit"],
    ["/opt/store/workerd", "/bin/workerd"],
    ["/data/scripts/a", "/script"],
  ]);
  assert.deepEqual(findOption(args, "--bind", 2), [["/run/store/a", "/sockets"]]);
  const devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
  assert.deepEqual(
    findOption(args, "--dev-bind", 2),
    devices.map((path) => [path, path]),
  );
  for (const other of [
    "--proc",
    "--dev",
    "--tmpfs",
    "--bind-try",
    "--ro-bind-try",
    "--share-net",
    "--setenv",
  ]) {
    assert.ok(!args.includes(other), other);
  }
});

test("the root becomes read-only after every mount", () => {
  const { args } = buildWall(options);
  const last = Math.max(...["--ro-bind", "--bind", "--dev-bind"].map((name) => args.lastIndexOf(name)));
  assert.ok(args.indexOf("--remount-ro") > last);
});

test("no namespace is optional but that of cgroups, and no capability remains", () => {
  const { args } = buildWall(options);
  for (const name of ["user", "pid", "net", "ipc", "uts"])
    assert.ok(args.includes(`--unshare-${name}`), name);
  assert.deepEqual(findOption(args, "--cap-drop", 1), [["ALL"]]);
  for (const name of ["--clearenv", "--new-session", "--die-with-parent"])
    assert.ok(args.includes(name), name);
  assert.deepEqual(
    [...findOption(args, "--uid", 1), ...findOption(args, "--gid", 1)],
    [["65534"], ["65534"]],
  );
});

test("the limits are set between bubblewrap and workerd", () => {
  const { command, args } = buildWall(options);
  assert.equal(command, "/usr/bin/bwrap");
  assert.deepEqual(args.slice(args.indexOf("--") + 1), [
    ...["/bin/prlimit", "--data=536871912", "--nofile=20", "--nproc=3"],
    ...["--core=0", "--fsize=0", "--memlock=0", "--msgqueue=0"],
    ...["--", "/bin/workerd", "serve", "/script/config.capnp"],
  ]);
});

test("a kernel that counts the threads of all sandboxes together gets no limit of threads", () => {
  const { args } = buildWall({ ...options, tools: { ...tools, canLimitThreads: false } });
  assert.ok(!args.some((arg) => arg.startsWith("--nproc")));
});

test("the filter of system calls is passed by a descriptor", () => {
  const { args, extraFiles, infoFd, closedFds, user } = buildWall(options);
  assert.deepEqual(findOption(args, "--seccomp", 1), [["4"]]);
  assert.deepEqual(extraFiles, [{ fd: 4, bytes: tools.seccomp }]);
  assert.deepEqual(findOption(args, "--info-fd", 1), [[String(infoFd)]]);
  assert.deepEqual(closedFds, [10, 251]);
  assert.deepEqual(user, tools.user);
});

test("without a filter the command has no option for it", () => {
  const { args, extraFiles, closedFds } = buildWall({ ...options, tools: { ...tools, seccomp: undefined } });
  assert.ok(!args.includes("--seccomp"));
  assert.deepEqual(extraFiles, []);
  assert.deepEqual(closedFds, [4, 10, 251]);
});

test("a path that is not absolute is refused", () => {
  const invalid: readonly Partial<WallOptions>[] = [
    { workerd: "workerd" },
    { sockets: "--share-net" },
    { files: [{ from: "../etc", to: "/etc" }] },
    { files: [{ from: "/etc", to: "etc" }] },
    { files: [{ from: "/etc\0", to: "/etc" }] },
  ];
  for (const part of invalid) assert.throws(() => buildWall({ ...options, ...part }), /absolute path/);
});

test("a limit that is not a positive integer is refused", () => {
  for (const threads of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(
      () => buildWall({ ...options, limits: { ...options.limits, threads } }),
      /limit of threads/,
    );
  }
});

test("an argument of workerd never becomes an option of bubblewrap", () => {
  const { args } = buildWall({ ...options, args: ["--share-net"], limits: defaultSandboxLimits });
  assert.ok(args.indexOf("--share-net") > args.indexOf("--"));
});
