// Compiles the filter of system calls to a program of the kernel's classic BPF machine, an array of
// `struct sock_filter` as bubblewrap reads it. Calls that no table names are allowed.
import {
  type Architecture,
  absentCalls,
  type CallNumbers,
  callNumber,
  checkedCalls,
  lastKnownCall,
  refusedCalls,
} from "./system-calls.ts";

interface Instruction {
  readonly code: number;
  /** Number of instructions that a conditional jump skips. Default: 0. */
  readonly whenTrue?: number;
  readonly whenFalse?: number;
  readonly value: number;
}

/** Refuses a call if the lower half of an argument, masked, equals or does not equal the value. */
export interface ArgumentRule {
  readonly call: keyof typeof checkedCalls;
  readonly argument: number;
  readonly mask: number;
  readonly refuse: "equal" | "different";
  readonly value: number;
}

const allBits = 0xffff_ffff;
const unixFamily = 1;
const cloneThread = 0x0001_0000;
const cloneNamespaces = 0x7e02_0000;
const sharedAnonymous = 0x21;
/** O_CREAT, and the bit by which O_TMPFILE differs from O_DIRECTORY. */
const createFlags = 0o20000100;
/** TIOCSTI and TIOCLINUX, which write to the input of a terminal. */
const terminalInputs = [0x5412, 0x541c];

export const argumentRules: readonly ArgumentRule[] = [
  // Shared anonymous memory would not count as data of the process.
  { call: "mmap", argument: 3, mask: sharedAnonymous, refuse: "equal", value: sharedAnonymous },
  { call: "open", argument: 1, mask: createFlags, refuse: "different", value: 0 },
  { call: "openat", argument: 2, mask: createFlags, refuse: "different", value: 0 },
  { call: "socket", argument: 0, mask: allBits, refuse: "different", value: unixFamily },
  { call: "socketpair", argument: 0, mask: allBits, refuse: "different", value: unixFamily },
  // Threads, but neither processes nor namespaces.
  {
    call: "clone",
    argument: 0,
    mask: cloneThread | cloneNamespaces,
    refuse: "different",
    value: cloneThread,
  },
  ...terminalInputs.map((value): ArgumentRule => {
    return { call: "ioctl", argument: 1, mask: allBits, refuse: "equal", value };
  }),
];

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
export const auditArchitectures: Readonly<Record<Architecture, number>> = {
  x64: 0xc000_003e,
  arm64: 0xc000_00b7,
};

/** Opcodes: load a word of the call's data, conditional jumps, bitwise and, return. */
const [load, jumpEqual, jumpGreater, and, finish] = [0x20, 0x15, 0x25, 0x54, 0x06] as const;
/** Offsets in `struct seccomp_data`. An argument has 8 bytes, its lower half first. */
const [numberOffset, architectureOffset, argumentsOffset] = [0, 4, 16] as const;

const loadNumber: Instruction = { code: load, value: numberOffset };
const allow: Instruction = { code: finish, value: 0x7fff_0000 };
const killProcess: Instruction = { code: finish, value: 0x8000_0000 };
const failWithEperm: Instruction = { code: finish, value: 0x0005_0001 };
const failWithEnosys: Instruction = { code: finish, value: 0x0005_0026 };

/** Returns undefined for an architecture without a table of calls. workerd has no build for those. */
export function compileSeccomp(architecture: string): Uint8Array | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  return encode([
    // Calls of another architecture, such as 32-bit calls on x64, have other numbers.
    { code: load, value: architectureOffset },
    { code: jumpEqual, value: auditArchitectures[architecture], whenTrue: 1 },
    killProcess,
    loadNumber,
    // A program takes ENOSYS as an older kernel and does without. The x32 calls are here, too.
    { code: jumpGreater, value: lastKnownCall, whenFalse: 1 },
    failWithEnosys,
    ...argumentRules.flatMap((rule) => compileRule(rule, architecture)),
    ...compileTable(absentCalls, architecture, failWithEnosys),
    ...compileTable(refusedCalls, architecture, failWithEperm),
    allow,
  ]);
}

function compileRule(rule: ArgumentRule, architecture: Architecture): Instruction[] {
  const number = callNumber(checkedCalls[rule.call], architecture);
  if (number === undefined) return [];
  const check = [
    { code: load, value: argumentsOffset + 8 * rule.argument },
    { code: and, value: rule.mask },
    { code: jumpEqual, value: rule.value, [rule.refuse === "equal" ? "whenFalse" : "whenTrue"]: 1 },
    failWithEperm,
    loadNumber,
  ];
  return [{ code: jumpEqual, value: number, whenFalse: check.length }, ...check];
}

function compileTable(
  table: Readonly<Record<string, CallNumbers>>,
  architecture: Architecture,
  action: Instruction,
): Instruction[] {
  return Object.values(table).flatMap((numbers) => {
    const number = callNumber(numbers, architecture);
    return number === undefined ? [] : [{ code: jumpEqual, value: number, whenFalse: 1 }, action];
  });
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(8 * instructions.length);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, whenTrue = 0, whenFalse = 0, value }] of instructions.entries()) {
    view.setUint16(8 * index, code, true);
    view.setUint8(8 * index + 2, whenTrue);
    view.setUint8(8 * index + 3, whenFalse);
    view.setUint32(8 * index + 4, value, true);
  }
  return bytes;
}
