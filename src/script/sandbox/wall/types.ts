// Types of the wall: the namespaces, limits and system call filter around the process of a sandbox.

/** A file or folder of this machine that is mounted read-only inside the wall. */
export interface WallFile {
  /** Absolute path on this machine. */
  readonly from: string;
  /** Absolute path inside the wall. */
  readonly to: string;
}

/** Limits of one process behind the wall, which it cannot raise. */
export interface SandboxLimits {
  /** Heaps, buffers and stacks together, used or only allocated. workerd itself needs about 25 MB. */
  readonly memoryBytes: number;
  readonly openFiles: number;
  /** Enforced where the kernel counts the threads of each user namespace, since Linux 5.14. */
  readonly threads: number;
}

export interface WallUser {
  readonly uid: number;
  readonly gid: number;
}

/** The programs and files of this machine that the wall is made of. `checkWall` finds them. */
export interface WallTools {
  readonly bwrap: string;
  readonly prlimit: string;
  /** Libraries of workerd and prlimit, and the certificates without which workerd does not start. */
  readonly files: readonly WallFile[];
  /** The compiled filter of system calls, undefined on an architecture that has none. */
  readonly seccomp: Uint8Array | undefined;
  readonly canLimitThreads: boolean;
  /** Descriptors that every child of this process would inherit. */
  readonly inheritedFds: readonly number[];
  /** The user that runs the command: unprivileged if Store runs as root, otherwise undefined. */
  readonly user: WallUser | undefined;
}

export interface WallOptions {
  readonly tools: WallTools;
  /** Absolute path of the program on this machine. */
  readonly workerd: string;
  readonly files: readonly WallFile[];
  /** Folder of this machine that is mounted at /sockets. The process may create sockets in it. */
  readonly sockets: string;
  /** Arguments of workerd. Paths in them are paths inside the wall. */
  readonly args: readonly string[];
  readonly limits: SandboxLimits;
}

/** A command for `startWall`. */
export interface WallCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Files that the command reads from inherited descriptors. */
  readonly extraFiles: readonly { readonly fd: number; readonly bytes: Uint8Array }[];
  /** The descriptor on which the command reports the process id of workerd. */
  readonly infoFd: number;
  /** Descriptors of this process that the command must not inherit. */
  readonly closedFds: readonly number[];
  readonly user: WallUser | undefined;
}

export type WallCheck =
  | {
      readonly kind: "ready";
      readonly tools: WallTools;
      /** Parts of the wall that this machine cannot have, as sentences for the log. */
      readonly warnings: readonly string[];
    }
  /** `what` says what is missing and what to do about it. */
  | { readonly kind: "missing"; readonly what: string }
  /** This operating system has no wall. */
  | { readonly kind: "unsupported" };
