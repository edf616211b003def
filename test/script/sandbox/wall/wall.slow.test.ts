// A native attacker behind the real wall: a perl program that makes system calls. It stands for a
// script that has taken over the runtime.
import assert from "node:assert/strict";
import { test } from "node:test";
import { absentCalls, callNumber, refusedCalls } from "../../../../src/script/sandbox/wall/system-calls.ts";
import { runPerl, skipPerl } from "./scene.ts";

const architecture = process.arch === "arm64" ? "arm64" : "x64";
const [eperm, enosys] = [1, 38];

test("every refused call fails in a real process", { skip: skipPerl }, async (t) => {
  const expected = new Map<string, number>();
  const calls: string[] = [];
  for (const [table, error] of [
    [refusedCalls, eperm],
    [absentCalls, enosys],
  ] as const) {
    for (const [name, numbers] of Object.entries(table)) {
      const number = callNumber(numbers, architecture);
      if (number === undefined) continue;
      expected.set(name, error);
      calls.push(`${name} ${number}`);
    }
  }
  // Arguments that are invalid in every call, so that a call that is not refused has no effect.
  const program = `for (split /,/, "${calls.join(",")}") { my ($name, $number) = split / /; $! = 0;
    my $result = syscall($number, -1, -1, -1, -1, -1, -1); print "$name ", $result == -1 ? $!+0 : 0, "\\n" }`;
  const { output } = await runPerl(t, program);
  const seen = output
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  assert.deepEqual(new Map(seen.map(([name, error]) => [name, Number(error)])), expected);
});

test("processes, namespaces, networks and new files are refused", { skip: skipPerl }, async (t) => {
  const { output } = await runPerl(
    t,
    `sub show { print shift, " ", ($_[0] ? "worked" : $!+0), "\\n"; $! = 0 }
    show("fork", fork());
    for (2, 10, 16, 17) { show("socket$_", socket(my $s, $_, 1, 0)) }
    show("socket1", socket(my $unix, 1, 1, 0));
    show("create", open(my $f, ">", "/sockets/file"));
    show("root", open(my $g, ">", "/file"));
    show("mkdir", mkdir("/sockets/folder"));
    show("symlink", symlink("/sockets/other", "/sockets/main"));
    show("kill", kill(9, 2));`,
  );
  assert.deepEqual(output.trim().split("\n"), [
    ...["fork 1", "socket2 1", "socket10 1", "socket16 1", "socket17 1", "socket1 worked"],
    ...["create 1", "root 1", "mkdir 1", "symlink 1"],
    "kill 3", // there is no other process
  ]);
});

test("the file system has the mounted files and nothing else", { skip: skipPerl }, async (t) => {
  const { output } = await runPerl(
    t,
    `my @folders = ("/");
    while (defined(my $folder = shift @folders)) {
      opendir(my $handle, $folder) or next;
      for (grep { !/^\\.\\.?$/ } readdir $handle) {
        my $path = $folder eq "/" ? "/$_" : "$folder/$_";
        if (-d $path && ! -l $path) { push @folders, $path } else { print "$path\\n" }
      }
    }`,
  );
  const paths = output.trim().split("\n");
  const isCertificate = (path: string) =>
    /^\/(etc\/(ssl\/certs|pki)|usr\/share\/ca-certificates)\//.test(path);
  const isLibrary = (path: string) =>
    /^(\/usr)?\/lib(64)?\/([a-z0-9_]+-linux-gnu\/)?(lib|ld-)[a-z0-9._-]+$/.test(path);
  const rest = paths.filter((path) => !isCertificate(path) && !isLibrary(path)).sort();
  const devices = ["/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];
  assert.deepEqual(rest, ["/bin/prlimit", "/bin/workerd", ...devices]);
  assert.ok(paths.filter(isLibrary).length < 12, "libraries one by one, not folders of them");
});

test("a process finds neither variables, descriptors, processes nor its user", {
  skip: skipPerl,
}, async (t) => {
  const { output } = await runPerl(
    t,
    `print join(",", keys %ENV), "|$<|$>|$(|$$|", getppid(), "|";
    for (3 .. 1000) {
      open(my $copy, "<&", $_) or next;
      print "open $_" if (stat $copy)[6] != (stat "/dev/null")[6];
    }
    print -e "/proc" ? "proc" : "none", "|", join(",", (getpwuid($<))[0] // "unnamed");`,
  );
  assert.equal(output, "PWD|65534|65534|65534|1|0|none|unnamed");
});

test("memory beyond the limit is not allocated", { skip: skipPerl }, async (t) => {
  // perl may use what V8 would have reserved.
  const limits = { memoryBytes: 64 * 1024 * 1024 };
  const allocate = (megabytes: number) => `my $text = "a" x (${megabytes} * 1048576); print length $text`;
  assert.equal((await runPerl(t, allocate(16), { limits })).output, String(16 * 1048576));
  const { output, code } = await runPerl(t, allocate(600), { limits });
  assert.match(output, /Out of memory/);
  assert.notEqual(code, 0);
});

test("memory that does not count as data cannot be had", { skip: skipPerl }, async (t) => {
  const [mmap, memfd] = architecture === "x64" ? [9, 319] : [222, 279];
  const { output } = await runPerl(
    t,
    `my $size = 1048576;
    print syscall(${mmap}, 0, $size, 3, 0x21, -1, 0), " ", $!+0, "|";
    my $name = "file"; my $fd = syscall(${memfd}, $name, 0);
    open(my $file, "+<&=", $fd); print syswrite($file, "a" x 4096) // "failed", " ", $!+0;`,
  );
  // EPERM by the filter, and EFBIG by the limit of file sizes.
  assert.equal(output, "-1 1|failed 27");
});

test("descriptors beyond the limit are not opened", { skip: skipPerl }, async (t) => {
  const program =
    'my @files; while (open(my $file, "<", "/dev/null")) { push @files, $file } print @files + 3, " ", $!+0;';
  const { output } = await runPerl(t, program, { limits: { openFiles: 50 } });
  assert.equal(output, "50 24");
});

test("without the filter the same process may make a namespace, so the filter refuses it", {
  skip: skipPerl,
}, async (t) => {
  const program = `print syscall(${callNumber(refusedCalls.unshare, architecture)}, 0x10000000)`;
  assert.equal((await runPerl(t, program)).output, "-1");
  assert.equal((await runPerl(t, program, { tools: { seccomp: undefined } })).output, "0");
});
