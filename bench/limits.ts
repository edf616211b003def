// The raw machine: the same work done by hand with plain system calls, in rounds like the product's.
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
  /** The share of it that the product should reach, where it should. */
  readonly bar?: number | undefined;
}

/** Bodies of concurrent writers appended to one file, with one fdatasync for each group of them. */
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

/** Every body to a file of its own: open, write, fdatasync, close. Alone without a thread in between. */
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

/** MD5 of the bytes on one thread. */
export function md5Alone(body: Uint8Array, seconds: number): Limit {
  return {
    name: "md5",
    round: () => perSecondSync(seconds, () => createHash("md5").update(body).digest()),
  };
}

/** Files of the same bytes, opened, read to the end into one buffer of at most 1 MiB, and closed. */
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

/** The same, but every MiB into a buffer of its own, which its reader may keep: what a stream has to give. */
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

/** The same files read whole, as a program without a store would have them. */
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

/** The same files as Node streams them: every chunk a buffer that its reader may keep, as the store gives them. */
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

/** A stat of one file of many. */
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

/** A directory of so many entries read, and each entry's stat: what any listing of files costs. */
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
  /** Over bytes the file already has, as a journal that is reused does it. */
  readonly fdatasyncInPlacePerSecond: number;
  readonly md5MiBPerSecond: number;
}

/** What the machine does plainly: 1 KiB written and synced, one after the other, and md5. */
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
