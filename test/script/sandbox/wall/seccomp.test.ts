// Runs the compiled filter on a small interpreter of the kernel's classic BPF machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  argumentRules,
  auditArchitectures,
  compileSeccomp,
} from "../../../../src/script/sandbox/wall/seccomp.ts";
import {
  type Architecture,
  absentCalls,
  type CallNumbers,
  callNumber,
  checkedCalls,
  lastKnownCall,
  refusedCalls,
} from "../../../../src/script/sandbox/wall/system-calls.ts";

const architectures: readonly Architecture[] = ["x64", "arm64"];
const [allowed, killed, eperm, enosys] = [0x7fff0000, 0x80000000, 0x00050001, 0x00050026];

interface Call {
  readonly number: number;
  readonly audit?: number;
  readonly arguments?: readonly bigint[];
}

/** Returns the action of the filter for a call. */
function decide(architecture: Architecture, call: Call): number {
  const program = Buffer.from(compileSeccomp(architecture)!);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.audit ?? auditArchitectures[architecture], 4);
  for (const [index, value] of (call.arguments ?? []).entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, value] = [program.readUInt16LE(at), program.readUInt32LE(at + 4)];
    const jump = (isTrue: boolean) => 8 * program.readUInt8(at + (isTrue ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x25) at += jump(accumulator > value);
    else if (code === 0x06) return value;
    else assert.fail(`unknown instruction ${code}`);
  }
  assert.fail("the program has no end");
}

function numbersOf(table: Readonly<Record<string, CallNumbers>>, architecture: Architecture): number[] {
  return Object.values(table).flatMap((numbers) => callNumber(numbers, architecture) ?? []);
}

for (const architecture of architectures) {
  test(`on ${architecture} every call is refused, absent or allowed as its table says`, () => {
    const refused = new Set(numbersOf(refusedCalls, architecture));
    const absent = new Set(numbersOf(absentCalls, architecture));
    const checked = new Set(numbersOf(checkedCalls, architecture));
    assert.equal(
      refused.size + absent.size + checked.size,
      new Set([...refused, ...absent, ...checked]).size,
    );
    for (let number = 0; number <= lastKnownCall; number++) {
      if (checked.has(number)) continue;
      const expected = refused.has(number) ? eperm : absent.has(number) ? enosys : allowed;
      assert.equal(decide(architecture, { number }), expected, `call ${number}`);
    }
  });

  test(`on ${architecture} calls that the tables do not know yet are absent`, () => {
    for (const number of [lastKnownCall + 1, 500, 0x40000000, 0x40000000 + 57, 0xffffffff]) {
      assert.equal(decide(architecture, { number }), enosys, `call ${number}`);
    }
  });

  test(`on ${architecture} a call with the numbers of another architecture ends the process`, () => {
    for (const audit of [0x40000003, 0x40000028, 0, ...Object.values(auditArchitectures)]) {
      const expected = audit === auditArchitectures[architecture] ? allowed : killed;
      assert.equal(decide(architecture, { number: 0, audit }), expected, audit.toString(16));
    }
  });

  test(`on ${architecture} the arguments of clone, open, socket, mmap and ioctl decide`, () => {
    const high = 0xdeadbeefn << 32n;
    const cases: (readonly [keyof typeof checkedCalls, readonly bigint[], number])[] = [
      ["clone", [0x3d0f00n], allowed], // the flags of pthread_create
      ["clone", [0x11n], eperm], // fork
      ["clone", [0x4111n], eperm], // vfork and posix_spawn
      ["clone", [0x10010000n], eperm], // a thread in a new user namespace
      ["clone", [0x20000n | 0x10000n], eperm],
      ["clone", [high | 0x11n], eperm],
      ["open", [0n, 0n], allowed],
      ["open", [0n, 0o100n], eperm],
      ["open", [0n, 0o1102n], eperm],
      ["openat", [0n, 0n, 0o2000000n], allowed],
      ["openat", [0n, 0n, 0o200000n], allowed], // O_DIRECTORY
      ["openat", [0n, 0n, 0o20200002n], eperm], // O_TMPFILE
      ["openat", [0n, 0n, 0o101n], eperm],
      ["socket", [1n, 1n], allowed],
      ["socket", [high | 1n], allowed], // the kernel reads the lower half only
      ...[0n, 2n, 10n, 16n, 17n, 38n, 40n, high | 2n].map((family) => ["socket", [family], eperm] as const),
      ["socketpair", [1n], allowed],
      ["socketpair", [16n], eperm],
      ["mmap", [0n, 4096n, 3n, 0x22n], allowed],
      ["mmap", [0n, 4096n, 3n, 0x1n], allowed], // a file, shared
      ["mmap", [0n, 4096n, 3n, 0x21n], eperm],
      ["mmap", [0n, 4096n, 3n, 0x23n], eperm],
      ["ioctl", [0n, 0x5401n], allowed],
      ["ioctl", [0n, 0x5412n], eperm],
      ["ioctl", [0n, high | 0x541cn], eperm],
    ];
    assert.deepEqual(new Set(cases.map(([call]) => call)), new Set(argumentRules.map(({ call }) => call)));
    for (const [name, values, expected] of cases) {
      const number = callNumber(checkedCalls[name], architecture);
      if (number === undefined) continue;
      assert.equal(decide(architecture, { number, arguments: values }), expected, `${name} ${values}`);
    }
  });
}

test("an architecture without a table has no filter", () => {
  assert.equal(compileSeccomp("riscv64"), undefined);
});
