// Real disk faults at a chosen moment: an LD_PRELOAD library counts the calls of another process on
// the files of a store, and at the given count fails the call or kills the process.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface Faults {
  /** Environment variables the process must be started with. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on, the `count`th call of this kind fails, or kills the process. */
  arm(fault: Fault, count: number): void;
  disarm(): void;
  /** Whether the fault armed last has occurred. */
  hasFired(): boolean;
  close(): void;
}

/** A sync or a write that fails with EIO, or SIGKILL before a change to the disk. */
export type Fault = "sync" | "write" | "death";

/** Compiles the library; returns undefined if no C compiler can be found or installed. */
export function buildFaultLibrary(directory: string): string | undefined {
  const source = join(directory, "faults.c");
  const library = join(directory, "faults.so");
  writeFileSync(source, librarySource);
  const build = () =>
    spawnSync("cc", ["-O1", "-shared", "-fPIC", "-o", library, source], { encoding: "utf8" });
  let built = build();
  if (built.error !== undefined) {
    spawnSync("apt-get", ["install", "-y", "gcc", "libc6-dev"]);
    built = build();
  }
  if (built.error !== undefined) return undefined;
  if (built.status !== 0) throw new Error(`cc cannot build the library: ${built.stderr}`);
  return library;
}

const places = { sync: 0, write: 1, death: 2 } as const;
const firedPlace = 3;

/** Controls the faults of one process on files below `under`, through a shared control file. */
export function createFaults(library: string, controlPath: string, under: string): Faults {
  writeFileSync(controlPath, Buffer.alloc(4096));
  const control = openSync(controlPath, "r+");
  const number = Buffer.alloc(4);
  const set = (place: number, value: number) => {
    number.writeInt32LE(value);
    writeSync(control, number, 0, 4, place * 4);
  };
  const disarm = () => {
    for (const place of Object.values(places)) set(place, 0);
  };
  return {
    env: { LD_PRELOAD: library, STORE_FAULTS: controlPath, STORE_FAULTS_UNDER: under },
    arm(fault, count) {
      set(firedPlace, 0);
      set(places[fault], count);
    },
    disarm,
    hasFired() {
      readSync(control, number, 0, 4, firedPlace * 4);
      return number.readInt32LE() !== 0;
    },
    close: () => closeSync(control),
  };
}

const librarySource = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SYNC, WRITE, DEATH, FIRED };
static int *control;
static const char *under;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("STORE_FAULTS");
  under = getenv("STORE_FAULTS_UNDER");
  int file = path == NULL || under == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (map != MAP_FAILED) control = map;
}

static int isOurs(const char *path) { return strncmp(path, under, strlen(under)) == 0; }

/* SQLite syncs the folder of a new log a second time and ignores a failure of that sync. */
static int isOfDatabase(const char *path) {
  char database[4400];
  snprintf(database, sizeof database, "%s/records.db", path);
  if (access(database, F_OK) == 0) return 1;
  snprintf(database, sizeof database, "%s/registry.db", path);
  return access(database, F_OK) == 0;
}

static int isOurFile(int kind, int descriptor) {
  char path[4096], link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return isOurs(path) && !(kind == SYNC && isOfDatabase(path));
}

/* Counts down the armed fault; returns 1 if the fault applies to this call. */
static int isTurn(int kind) {
  if (__atomic_load_n(&control[kind], __ATOMIC_SEQ_CST) <= 0) return 0;
  if (__atomic_sub_fetch(&control[kind], 1, __ATOMIC_SEQ_CST) != 0) return 0;
  control[FIRED] = 1;
  return 1;
}

static int isArmed(void) { return control != NULL && (control[SYNC] | control[WRITE] | control[DEATH]) != 0; }

static int fails(int kind) {
  if (isTurn(DEATH)) kill(getpid(), SIGKILL);
  return kind != DEATH && isTurn(kind);
}

static int failsOn(int kind, int descriptor) { return isArmed() && isOurFile(kind, descriptor) && fails(kind); }
static void passes(const char *path) { if (isArmed() && isOurs(path)) fails(DEATH); }

#define REAL(name, type) static type real; if (real == NULL) real = (type)dlsym(RTLD_NEXT, name)
#define FAIL do { errno = EIO; return -1; } while (0)

typedef int (*sync_call)(int);
int fsync(int fd) { REAL("fsync", sync_call); if (failsOn(SYNC, fd)) FAIL; return real(fd); }
int fdatasync(int fd) { REAL("fdatasync", sync_call); if (failsOn(SYNC, fd)) FAIL; return real(fd); }

typedef ssize_t (*write_call)(int, const void *, size_t);
ssize_t write(int fd, const void *from, size_t size) {
  REAL("write", write_call); if (failsOn(WRITE, fd)) FAIL; return real(fd, from, size);
}
typedef ssize_t (*pwrite_call)(int, const void *, size_t, off64_t);
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
  REAL("pwrite64", pwrite_call); if (failsOn(WRITE, fd)) FAIL; return real(fd, from, size, at);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
  REAL("pwrite64", pwrite_call); if (failsOn(WRITE, fd)) FAIL; return real(fd, from, size, at);
}
typedef ssize_t (*writev_call)(int, const struct iovec *, int);
ssize_t writev(int fd, const struct iovec *from, int count) {
  REAL("writev", writev_call); if (failsOn(WRITE, fd)) FAIL; return real(fd, from, count);
}
typedef ssize_t (*pwritev_call)(int, const struct iovec *, int, off64_t);
ssize_t pwritev64(int fd, const struct iovec *from, int count, off64_t at) {
  REAL("pwritev64", pwritev_call); if (failsOn(WRITE, fd)) FAIL; return real(fd, from, count, at);
}

typedef int (*path_call)(const char *);
int unlink(const char *path) { REAL("unlink", path_call); passes(path); return real(path); }
int rmdir(const char *path) { REAL("rmdir", path_call); passes(path); return real(path); }
typedef int (*mkdir_call)(const char *, mode_t);
int mkdir(const char *path, mode_t mode) { REAL("mkdir", mkdir_call); passes(path); return real(path, mode); }
typedef int (*rename_call)(const char *, const char *);
int rename(const char *from, const char *to) { REAL("rename", rename_call); passes(from); return real(from, to); }
`;
