// HTTPS for all ports: reads and checks the certificate and its key. Reloads them on a signal or
// when the files change. If the new pair is invalid, logs the problem and keeps the previous pair.
import { readFile, stat } from "node:fs/promises";
import {
  type CheckedPair,
  checkPair,
  formatDate,
  PairError,
  type PairText,
} from "../../http/tls/certificate.ts";
import { createTlsSource, type TlsSource } from "../../http/tls/tls.ts";
import { errorMessage } from "../../model/errors.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";
import { pathArgument } from "../framework/path-argument.ts";

export const tlsOptions: Readonly<Record<string, Option>> = {
  "tls-cert": { value: "FILE", summary: "PEM certificate with its chain; enables HTTPS on all ports" },
  "tls-key": { value: "FILE", summary: "PEM private key of the certificate" },
};

export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface RunningTls {
  readonly source: TlsSource;
  /** Reads the files now and logs the outcome. */
  reload(): Promise<void>;
  close(): void;
}

/** The files are polled, because file watching misses changes of symbolic links. */
const pollMilliseconds = 5000;

export function tlsFiles({ options, directory }: Invocation): TlsFiles | undefined {
  const [certificate, key] = [options.text("tls-cert"), options.text("tls-key")];
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined) throw usageError("--tls-key needs its certificate: --tls-cert FILE");
  if (key === undefined) throw usageError("--tls-cert needs its private key: --tls-key FILE");
  return {
    certificate: pathArgument({ directory }, { label: "--tls-cert", text: certificate, expected: "a file" }),
    key: pathArgument({ directory }, { label: "--tls-key", text: key, expected: "a file" }),
  };
}

export interface OpenTlsOptions {
  readonly log: (line: string) => void;
  readonly pollEveryMilliseconds?: number;
}

export async function openTls(files: TlsFiles, work: OpenTlsOptions): Promise<RunningTls> {
  const { log, pollEveryMilliseconds = pollMilliseconds } = work;
  let current = await readPair(files);
  const source = createTlsSource(checkCertificate(files, current).pair);
  if (((await stat(files.key)).mode & 0o004) !== 0) {
    log(`Every user of this machine can read the private key; run: chmod o= ${files.key}`);
  }
  /** The problem found by the last check, and the last logged problem, if any. */
  let lastProblem: string | undefined;
  let loggedProblem: string | undefined;

  function load(text: PairText): void {
    const { pair, subject, until } = checkCertificate(files, text);
    source.change(pair);
    current = text;
    log(`Reloaded the certificate for ${subject}, valid until ${formatDate(until)}.`);
  }

  function logProblem(why: string): void {
    loggedProblem = why;
    log(`The certificate was not reloaded; the previous one stays in use. ${why}`);
  }

  async function check(): Promise<void> {
    try {
      const text = await readPair(files);
      if (text.certificate !== current.certificate || text.key !== current.key) load(text);
      lastProblem = loggedProblem = undefined;
    } catch (error) {
      const why = errorMessage(error);
      // One of the two files may not be written yet: log a problem only when two checks find it.
      if (why === lastProblem && why !== loggedProblem) logProblem(why);
      lastProblem = why;
    }
  }

  const timer = setInterval(() => void check(), pollEveryMilliseconds).unref();
  return {
    source,
    reload: async () => {
      try {
        load(await readPair(files));
      } catch (error) {
        logProblem(errorMessage(error));
      }
    },
    close: () => clearInterval(timer),
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

function checkCertificate(files: TlsFiles, text: PairText): CheckedPair {
  try {
    return checkPair(text, Date.now());
  } catch (error) {
    if (!(error instanceof PairError)) throw error;
    const name = error.part === "key" ? "private key" : "certificate";
    throw new CommandError(`The ${name} in ${files[error.part]} ${error.message}`);
  }
}
