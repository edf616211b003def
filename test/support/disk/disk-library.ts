// A preloaded C library for another process. It makes chosen calls on chosen files fail, as on a
// broken or full disk, and it notes which directory entries are created and synced.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface DiskLibrary {
  /** Returns the environment of a process whose calls fail as the control file says. */
  faultsBy(control: string): Readonly<Record<string, string>>;
  /** Returns the environment of a process that notes its created and synced entries in the file. */
  notesBy(notes: string): Readonly<Record<string, string>>;
}

/** Compiles the library; returns undefined if this machine has no C compiler. */
export function buildDiskLibrary(directory: string): DiskLibrary | undefined {
  if (spawnSync("cc", ["--version"]).status !== 0) return undefined;
  const sourceFile = join(directory, "disk.c");
  const library = join(directory, "disk.so");
  writeFileSync(sourceFile, source);
  const built = spawnSync("cc", ["-O1", "-shared", "-fPIC", "-o", library, sourceFile], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`cc cannot build the library: ${built.stderr}`);
  return {
    faultsBy: (control) => ({ LD_PRELOAD: library, STORE_DISK_FAULTS: control }),
    notesBy: (notes) => ({ LD_PRELOAD: library, STORE_DISK_NOTES: notes }),
  };
}

/** Kinds of calls, as bits. */
export const calls = { syncFile: 1, syncDirectory: 2, write: 4, read: 8, create: 16, truncate: 32 } as const;

/** Offsets of the fields in the control file, which the library maps into memory. */
export const control = {
  calls: 0,
  error: 4,
  countdown: 8,
  lasting: 12,
  hits: 16,
  root: 64,
  part: 1088,
  hit: 2112,
};
export const controlBytes = 4096;

const source = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
  uint32_t calls, error;
  int32_t countdown;
  uint32_t lasting, hits;
  char unused[${control.root} - 20], root[1024], part[1024], hit[1024];
};
static struct control *faults;
static int notes = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("STORE_DISK_FAULTS");
  int file = path == NULL ? -1 : syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (file >= 0) faults = mmap(NULL, ${controlBytes}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  path = getenv("STORE_DISK_NOTES");
  if (path != NULL) notes = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static void note(char what, const char *path) {
  char line[4200];
  int length = snprintf(line, sizeof line, "%c%s\\n", what, path);
  if (notes >= 0 && path[0] == '/') syscall(SYS_write, notes, line, length);
}

/* The part may be anywhere in the path; with a dollar sign, only at its end. */
static int isMeant(const char *path) {
  size_t part = strlen(faults->part), length = strlen(path);
  if (part == 0 || faults->part[part - 1] != '$') return strstr(path, faults->part) != NULL;
  return length >= part - 1 && strncmp(path + length - (part - 1), faults->part, part - 1) == 0;
}

static int isFailing(uint32_t call, const char *path) {
  if (!(faults->calls & call)) return 0;
  if (strncmp(path, faults->root, strlen(faults->root)) != 0 || !isMeant(path)) return 0;
  int32_t left = __atomic_sub_fetch(&faults->countdown, 1, __ATOMIC_SEQ_CST);
  if (left > 0 || (left < 0 && !faults->lasting)) return 0;
  __atomic_add_fetch(&faults->hits, 1, __ATOMIC_SEQ_CST);
  strncpy(faults->hit, path, sizeof faults->hit - 1);
  errno = faults->error;
  return 1;
}

static int pathOf(int descriptor, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
  path[length < 0 ? 0 : length] = 0;
  return length > 0;
}

static int fails(uint32_t call, int descriptor) {
  char path[4096];
  if (faults == NULL || !(faults->calls & call)) return 0;
  int before = errno;
  if (pathOf(descriptor, path, sizeof path) && isFailing(call, path)) return 1;
  errno = before;
  return 0;
}

static int isDirectory(int descriptor) {
  struct stat about;
  return fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode);
}

static int syncOne(long call, int descriptor) {
  char path[4096];
  int directory = (faults != NULL || notes >= 0) && isDirectory(descriptor);
  if (fails(directory ? ${calls.syncDirectory} : ${calls.syncFile}, descriptor)) return -1;
  int noted = directory && notes >= 0 && pathOf(descriptor, path, sizeof path);
  if (noted) note('(', path);
  int result = syscall(call, descriptor);
  if (noted && result == 0) note(')', path);
  return result;
}

static int isThere(const char *path) {
  int before = errno;
  int there = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  errno = before;
  return there;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  int makes = (flags & O_CREAT) && (faults != NULL || notes >= 0) && !isThere(path);
  if (makes && faults != NULL && isFailing(${calls.create}, path)) return -1;
  int result = syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
  if (makes && result >= 0) note('+', path);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  if (faults != NULL && isFailing(${calls.create}, path)) return -1;
  int result = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0) note('+', path);
  return result;
}

int fsync(int descriptor) { return syncOne(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return syncOne(SYS_fdatasync, descriptor); }

#define OR_FAIL(call, kind, ...) return fails(kind, descriptor) ? -1 : syscall(call, descriptor, __VA_ARGS__)

ssize_t write(int descriptor, const void *bytes, size_t length) {
  OR_FAIL(SYS_write, ${calls.write}, bytes, length);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t at) {
  OR_FAIL(SYS_pwrite64, ${calls.write}, bytes, length, at);
}
ssize_t pwritev64(int descriptor, const struct iovec *pieces, int count, off64_t at) {
  OR_FAIL(SYS_pwritev, ${calls.write}, pieces, count, at, 0);
}
ssize_t read(int descriptor, void *bytes, size_t length) {
  OR_FAIL(SYS_read, ${calls.read}, bytes, length);
}
ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t at) {
  OR_FAIL(SYS_pread64, ${calls.read}, bytes, length, at);
}
ssize_t preadv64(int descriptor, const struct iovec *pieces, int count, off64_t at) {
  OR_FAIL(SYS_preadv, ${calls.read}, pieces, count, at, 0);
}
int ftruncate64(int descriptor, off64_t length) {
  OR_FAIL(SYS_ftruncate, ${calls.truncate}, length);
}
`;
