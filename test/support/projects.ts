// Temporary projects for tests: a folder with a configuration and a script.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { readConfig, type ScriptConfig } from "../../src/script/config/config.ts";
import { ConfigError } from "../../src/script/config/syntax/error.ts";
import { temporaryDirectory } from "./stores.ts";

export interface Project {
  readonly directory: string;
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Writes and parses this configuration. */
  read(name: string, content: string | Uint8Array): Promise<ScriptConfig>;
  /** Writes this configuration, which must be refused, and returns the error. */
  refused(name: string, content: string | Uint8Array): Promise<ConfigError>;
}

export const now = () => Date.UTC(2026, 10, 15, 23, 59);

/** Creates a project with an empty script at src/index.ts. */
export async function project(t: TestContext): Promise<Project> {
  const directory = await temporaryDirectory(t);
  async function write(name: string, content: string | Uint8Array): Promise<string> {
    const file = join(directory, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }
  await write("src/index.ts", "");
  return {
    directory,
    write,
    read: async (name, content) => readConfig(await write(name, content), { now }),
    async refused(name, content) {
      const file = await write(name, content);
      try {
        readConfig(file, { now });
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
        return error;
      }
      return assert.fail(`was accepted: ${String(content)}`);
    },
  };
}

/** A configuration with one fault, and the expected report. */
export interface Row {
  readonly what: string;
  readonly text: string;
  /** Position of the fault, as `line:column`. */
  readonly at: string;
  /** Texts that the message or its hint contains. */
  readonly says: readonly string[];
}

/** Asserts that each row is refused with one fault, its position, its texts and its marked line. */
export async function refusals(
  t: TestContext,
  { refused }: Project,
  file: string,
  rows: readonly Row[],
): Promise<void> {
  for (const { what, text, at, says } of rows) {
    await t.test(`${what} in ${file} is refused`, async () => {
      const { message, faults } = await refused(file, text);
      assert.equal(faults.length, 1, message);
      const [fault] = faults;
      assert.equal(`${fault!.line}:${fault!.column}`, at, message);
      const [head, source, marks] = message.split("\n");
      assert.ok(head!.includes(`${file}:${at}: ${fault!.message}`), head);
      assert.match(source!, new RegExp(`^  ${fault!.line} \\|`));
      assert.match(marks!, /^ +\| [ \t]*\^+$/);
      for (const words of says) assert.ok(message.includes(words), `"${words}" in:\n${message}`);
    });
  }
}
