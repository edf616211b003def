// Numbers of the system calls that the filter knows, on x64 and arm64. undefined: the architecture
// does not have the call.

export type Architecture = "x64" | "arm64";

export type CallNumbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Calls that are always refused. Neither workerd nor its libraries need them to serve requests. */
export const refusedCalls = {
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  // New processes and namespaces. execve stays: bubblewrap needs it to start the process.
  fork: [57, undefined],
  vfork: [58, undefined],
  execveat: [322, 281],
  unshare: [272, 97],
  setns: [308, 268],
  // Mounts.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  // Parts of the kernel with a history of vulnerabilities, or for administrators only.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  seccomp: [317, 277],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  create_module: [174, undefined],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  syslog: [103, 116],
  acct: [163, 89],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  vhangup: [153, 58],
  personality: [135, 92],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
  _sysctl: [156, undefined],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  remap_file_pages: [216, 234],
  memfd_secret: [447, 447],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  // Memory and queues that no limit of the process counts.
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmdt: [67, 197],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  // Changes of a file system: a symbolic link in the folder of sockets could mislead the router.
  creat: [85, undefined],
  link: [86, undefined],
  linkat: [265, 37],
  symlink: [88, undefined],
  symlinkat: [266, 36],
  rename: [82, undefined],
  renameat: [264, 38],
  renameat2: [316, 276],
  mkdir: [83, undefined],
  mkdirat: [258, 34],
  mknod: [133, undefined],
  mknodat: [259, 33],
  unlink: [87, undefined],
  unlinkat: [263, 35],
  rmdir: [84, undefined],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  chown: [92, undefined],
  fchown: [93, 55],
  lchown: [94, undefined],
  fchownat: [260, 54],
  truncate: [76, 45],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  utime: [132, undefined],
  utimes: [235, undefined],
  utimensat: [280, 88],
  futimesat: [261, undefined],
} as const satisfies Readonly<Record<string, CallNumbers>>;

/** Calls whose arguments are in memory that a filter cannot read. Libraries use the older calls. */
export const absentCalls = {
  clone3: [435, 435],
  openat2: [437, 437],
} as const satisfies Readonly<Record<string, CallNumbers>>;

/** Calls that are refused or allowed by one of their arguments. */
export const checkedCalls = {
  clone: [56, 220],
  open: [2, undefined],
  openat: [257, 56],
  socket: [41, 198],
  socketpair: [53, 199],
  mmap: [9, 222],
  ioctl: [16, 29],
} as const satisfies Readonly<Record<string, CallNumbers>>;

/** The highest number that the tables were checked against. Later calls are unknown to the filter. */
export const lastKnownCall = 450;

export function callNumber(numbers: CallNumbers, architecture: Architecture): number | undefined {
  return numbers[architecture === "x64" ? 0 : 1];
}
