// Limits of the machine: the same work done with plain system calls, measured in the same rounds.
import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { perSecond, perSecondSync, type Round, type Work } from "./measure.ts";
import { sameCount } from "./section.ts";

const MiB = 1024 * 1024;

export interface Limit {
  readonly name: string;
  readonly round: Round;
  /** Target for the ratio of Store's rate to this limit. Default: no target. */
  readonly bar?: number | undefined;
}

/** Appends `group` bodies at a time to one file, with one fdatasync per group. */
export function groupAppend(directory: string, body: Uint8Array, group: number, seconds: number): Limit {
  const buffer = Buffer.alloc(body.length * group);
  return {
    name: group === 1 ? "append + fdatasync" : "group append + fdatasync",
    round: () => {
      const file = openSync(join(directory, "append"), "w");
      const rate = perSecondSync(seconds, () => {
        for (let at = 0; at < buffer.length; at += body.length) buffer.set(body, at);
        writeSync(file, buffer);
        fdatasyncSync(file);
      });
      closeSync(file);
      return rate * group;
    },
  };
}

/** Writes each body to a new file: open, write, fdatasync, close. One lane writes synchronously. */
export function fileWrites(
  directory: string,
  body: Uint8Array,
  work: { readonly lanes: number; readonly seconds: number; readonly operations: number },
): Limit {
  let made = 0;
  let removed = 0;
  const path = (index: number) => join(directory, `write-${body.length}-${index}`);
  const alone = async () => {
    const file = openSync(path(made++), "wx");
    for (let at = 0; at < body.length; ) at += writeSync(file, body, at);
    fdatasyncSync(file);
    closeSync(file);
  };
  const beside = async () => {
    const file = await open(path(made++), "wx");
    for (let at = 0; at < body.length; ) at += (await file.write(body, at)).bytesWritten;
    await file.datasync();
    await file.close();
  };
  return {
    name: "write + fdatasync",
    round: async () => {
      const rate = await perSecond(work, work.lanes === 1 ? alone : beside);
      while (removed < made) unlinkSync(path(removed++));
      return rate;
    },
  };
}

/** Computes the MD5 of the body on one thread. */
export function md5Alone(body: Uint8Array, seconds: number): Limit {
  return {
    name: "md5",
    round: () => perSecondSync(seconds, () => createHash("md5").update(body).digest()),
  };
}

/** Opens a file with the same bytes, reads all of it into one reused buffer, and closes it. */
export function fileReads(directory: string, body: Uint8Array, files: number, seconds: number): Limit {
  const paths = Array.from({ length: files }, (_, index) => join(directory, `read-${body.length}-${index}`));
  for (const path of paths) writeFileSync(path, body);
  const buffer = Buffer.alloc(Math.min(MiB, body.length));
  let next = 0;
  const read = () => {
    const file = openSync(paths[next++ % files]!, "r");
    for (let left = body.length; left > 0; ) left -= readSync(file, buffer);
    closeSync(file);
  };
  return {
    name: "open + read",
    round: () => perSecondSync(seconds, read),
  };
}

/** Like fileReads, but with a new buffer for every MiB, as if a reader keeps the chunks. */
export function keptReads(directory: string, body: Uint8Array, files: number, work: Work): Limit {
  const path = (index: number) => join(directory, `read-${body.length}-${index % files}`);
  let next = 0;
  return {
    name: "open + read, kept",
    round: () =>
      perSecond(work, async () => {
        const file = await open(path(next++));
        for (let left = body.length; left > 0; ) {
          const buffer = Buffer.allocUnsafeSlow(Math.min(MiB, left));
          left -= (await file.read(buffer)).bytesRead;
        }
        await file.close();
      }),
  };
}

/** Reads the same files with readFile, as a program without a store would. */
export function wholeReads(directory: string, body: Uint8Array, files: number, work: Work): Limit {
  const path = (index: number) => join(directory, `read-${body.length}-${index % files}`);
  let next = 0;
  return {
    name: "readFile",
    round: () =>
      perSecond(work, async () => {
        sameCount((await readFile(path(next++))).length, body.length, "bytes of a file");
      }),
  };
}

/** Reads the same files with createReadStream; the reader may keep each chunk, as with Store. */
export function streamReads(directory: string, body: Uint8Array, files: number, work: Work): Limit {
  const path = (index: number) => join(directory, `read-${body.length}-${index % files}`);
  let next = 0;
  return {
    name: "createReadStream",
    round: () =>
      perSecond(work, async () => {
        let left = body.length;
        for await (const chunk of createReadStream(path(next++))) left -= (chunk as Buffer).length;
        sameCount(left, 0, "bytes of a file left");
      }),
  };
}

/** Calls stat on one of many files. */
export function fileStats(directory: string, files: number, seconds: number): Limit {
  const folder = join(directory, "stats");
  mkdirSync(folder, { recursive: true });
  const paths = Array.from({ length: files }, (_, index) => join(folder, String(index)));
  for (const path of paths) writeFileSync(path, "");
  let next = 0;
  return {
    name: "stat",
    round: () => perSecondSync(seconds, () => statSync(paths[next++ % files]!)),
  };
}

/** Reads a directory and calls stat on each entry: the minimum cost of listing files. */
export function directoryPages(directory: string, entries: number, seconds: number): Limit {
  const folder = join(directory, `page-${entries}`);
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < entries; index++) writeFileSync(join(folder, String(index)), "");
  return {
    name: `readdir + ${entries.toLocaleString("en")} stat`,
    round: () =>
      perSecondSync(seconds, () => {
        for (const name of readdirSync(folder)) statSync(join(folder, name));
      }),
  };
}

export interface DiskFacts {
  readonly fsyncPerSecond: number;
  readonly fdatasyncPerSecond: number;
  /** Rate of fdatasync after overwriting existing bytes of a file, as in a reused journal. */
  readonly fdatasyncInPlacePerSecond: number;
  readonly md5MiBPerSecond: number;
}

/** Measures the machine: sequential writes of 1 KiB with a sync after each write, and MD5. */
export function diskFacts(directory: string, seconds: number): DiskFacts {
  const file = openSync(join(directory, "facts"), "w");
  const body = Buffer.alloc(1024, 1);
  const large = Buffer.alloc(MiB, 1);
  const facts = {
    fsyncPerSecond: perSecondSync(seconds, () => {
      writeSync(file, body);
      fsyncSync(file);
    }),
    fdatasyncPerSecond: perSecondSync(seconds, () => {
      writeSync(file, body);
      fdatasyncSync(file);
    }),
    fdatasyncInPlacePerSecond: perSecondSync(seconds, () => {
      writeSync(file, body, 0, body.length, 0);
      fdatasyncSync(file);
    }),
    md5MiBPerSecond: perSecondSync(seconds, () => createHash("md5").update(large).digest()),
  };
  closeSync(file);
  return facts;
}
