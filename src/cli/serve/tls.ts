// HTTPS for all ports of a server: reads the certificate and its key, sees that they can be used, and takes in new ones
// when the files change or a signal asks for it. A pair that cannot be used is told, and the former one stays.
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type CheckedPair, checkPair, PairError, type PairText, shown } from "../../http/tls/certificate.ts";
import { createTlsSource, type TlsSource } from "../../http/tls/tls.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";

export const tlsOptions: Readonly<Record<string, Option>> = {
  "tls-cert": { value: "FILE", summary: "a certificate with its chain, as PEM: all ports speak HTTPS" },
  "tls-key": { value: "FILE", summary: "the certificate's private key, as PEM" },
};

export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface RunningTls {
  readonly source: TlsSource;
  /** Looks at the files now, and tells what became of it. */
  reload(): Promise<void>;
  close(): void;
}

/** How often the files are read: they are small, and no way of watching sees all that may happen to links. */
const lookMilliseconds = 5000;

export function tlsFiles({ options, directory }: Invocation): TlsFiles | undefined {
  const [certificate, key] = [options.text("tls-cert"), options.text("tls-key")];
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined) throw usageError("--tls-key needs its certificate: --tls-cert FILE");
  if (key === undefined) throw usageError("--tls-cert needs its private key: --tls-key FILE");
  return { certificate: resolve(directory, certificate), key: resolve(directory, key) };
}

export interface TlsWork {
  readonly log: (line: string) => void;
  readonly everyMilliseconds?: number;
}

export async function openTls(files: TlsFiles, work: TlsWork): Promise<RunningTls> {
  const { log, everyMilliseconds = lookMilliseconds } = work;
  let used = await readPair(files);
  const source = createTlsSource(checked(files, used).pair);
  if (((await stat(files.key)).mode & 0o004) !== 0) {
    log(`Everybody on this machine can read the private key in ${files.key}: chmod o= takes that away.`);
  }
  /** What was wrong at the last look, and what was told of. */
  let wrong: string | undefined;
  let told: string | undefined;

  function take(text: PairText): void {
    const { pair, subject, until } = checked(files, text);
    source.change(pair);
    used = text;
    log(`The certificate was loaded anew: it names ${subject}, and holds until ${shown(until)}.`);
  }

  function tell(why: string): void {
    told = why;
    log(`The certificate was not loaded anew, and the former one is used on. ${why}`);
  }

  async function look(): Promise<void> {
    try {
      const text = await readPair(files);
      if (text.certificate !== used.certificate || text.key !== used.key) take(text);
      wrong = told = undefined;
    } catch (error) {
      const why = messageOf(error);
      // Of two files that are written one after the other only one may be there yet: the next look tells.
      if (why === wrong && why !== told) tell(why);
      wrong = why;
    }
  }

  const looking = setInterval(() => void look(), everyMilliseconds).unref();
  return {
    source,
    reload: async () => {
      try {
        take(await readPair(files));
      } catch (error) {
        tell(messageOf(error));
      }
    },
    close: () => clearInterval(looking),
  };
}

async function readPair({ certificate, key }: TlsFiles): Promise<PairText> {
  const text = async (file: string, what: string) => {
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      throw fileError(error, `read the ${what}`, file);
    }
  };
  return { certificate: await text(certificate, "certificate"), key: await text(key, "private key") };
}

function checked(files: TlsFiles, text: PairText): CheckedPair {
  try {
    return checkPair(text, Date.now());
  } catch (error) {
    if (!(error instanceof PairError)) throw error;
    const name = error.part === "key" ? "private key" : "certificate";
    throw new CommandError(`The ${name} in ${files[error.part]} ${error.message}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
