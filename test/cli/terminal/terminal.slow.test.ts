// Output on a terminal: prompts, progress, colours, tables.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { progressLine } from "../../../src/cli/terminal/progress.ts";
import { createHiddenLine } from "../../../src/cli/terminal/prompt.ts";
import { openEngine } from "../../../src/open.ts";
import { loadSecretKey } from "../../../src/secrets/master-key.ts";
import { createSecrets } from "../../../src/secrets/secrets.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { openShell, type Shell } from "../store.ts";
import { inTerminal, terminalProgram } from "../terminal.ts";

const csi = "\u001b[";

async function secretsOf({ directory }: Shell, script: string): Promise<Record<string, string>> {
  const location = join(directory, ".store");
  const { engine, documents } = await openEngine(location);
  try {
    return await createSecrets(documents, loadSecretKey(location, undefined)).values(script);
  } finally {
    await engine.close();
  }
}

async function withObjects(t: TestContext): Promise<Shell> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  await engine.put("photos", "cat.txt", new TextEncoder().encode("a cät\n"));
  await engine.put("photos", "evil\u001b[2J\nkey", sampleBytes(3_000_000));
  await engine.close();
  return shell;
}

/** Defines a test that is skipped without a pseudo terminal; findTerminal reports that. */
function onTerminal(name: string, run: (t: TestContext) => Promise<void>): void {
  if (terminalProgram !== undefined) test(name, run);
}

onTerminal("secret put prompts with hidden input and supports backspace", async (t) => {
  const shell = await openShell(t);
  const { code, screen } = await inTerminal(shell, ["secret", "put", "TOKEN", "--script", "app"], {
    answers: [{ after: "Value of TOKEN (not shown): ", type: "hunterr\u007f2é\r" }],
  });
  assert.equal(code, 0, screen);
  assert.ok(!screen.includes("hunter"), "the value is not on the screen");
  assert.match(screen, /Set .*TOKEN.* of script .*app/);
  assert.deepEqual(await secretsOf(shell, "app"), { TOKEN: "hunter2é" });
});

onTerminal("secret put prompts with hidden input even when stdout and stderr are redirected", async (t) => {
  const shell = await openShell(t);
  const { screen } = await inTerminal(shell, ["secret", "put", "TOKEN", "--script", "app"], {
    redirection: "2>&1 > out | cat",
    answers: [{ after: "(not shown)", type: "hunter2\r" }],
  });
  assert.ok(!screen.includes("hunter"));
  assert.deepEqual(await secretsOf(shell, "app"), { TOKEN: "hunter2" });
});

onTerminal("Ctrl-C at the prompt ends secret put with SIGINT and stores no secret", async (t) => {
  const shell = await openShell(t);
  const { code, screen } = await inTerminal(shell, ["secret", "put", "TOKEN", "--script", "app"], {
    answers: [{ after: "(not shown)", type: "hunter2\u0003" }],
  });
  assert.equal(code, 130, screen);
  assert.ok(!screen.includes("hunter"));
  await shell.fails(1, ["secret", "list", "--script", "app"]);
});

onTerminal("secret put with an empty answer at the prompt stores no secret", async (t) => {
  const shell = await openShell(t);
  const { code, screen } = await inTerminal(shell, ["secret", "put", "TOKEN", "--script", "app"], {
    answers: [{ after: "(not shown)", type: "\r" }],
  });
  assert.equal(code, 1);
  assert.match(screen, /The value is empty; nothing was changed/);
});

onTerminal(
  "bucket delete --force asks for the bucket's name, and a wrong name or Ctrl-C deletes nothing",
  async (t) => {
    const shell = await withObjects(t);
    const ask = (type: string) =>
      inTerminal(shell, ["bucket", "delete", "photos", "--force"], {
        answers: [{ after: "Type the name of the bucket", type }],
      });
    const other = await ask("photo\r");
    assert.equal(other.code, 1);
    assert.match(other.screen, /This permanently deletes 2 objects \(2\.9 MiB\)/);
    assert.match(other.screen, /The name does not match; nothing was deleted/);
    assert.equal((await ask("\u0003")).code, 130);
    assert.match(await shell.store("bucket", "info", "photos"), /^objects\t2$/m);
    const right = await ask("photos\r");
    assert.equal(right.code, 0, right.screen);
    assert.equal(await shell.store("bucket", "list", "--json"), "[]\n");
  },
);

onTerminal("bucket delete --force --yes deletes without asking for confirmation", async (t) => {
  const shell = await withObjects(t);
  const { code, screen } = await inTerminal(shell, ["bucket", "delete", "photos", "--force", "--yes"]);
  assert.equal(code, 0, screen);
  assert.doesNotMatch(screen, /Type the name/);
});

onTerminal(
  "object put, object get and verify show a progress line on a terminal only, and remove it at the end",
  async (t) => {
    const shell = await withObjects(t);
    await writeFile(join(shell.directory, "big"), sampleBytes(5_000_000));
    const calls = [
      ["object", "put", "photos/big", "big"],
      ["object", "get", "photos/big", "copy"],
      ["verify"],
    ];
    for (const args of calls) {
      const { code, screen } = await inTerminal(shell, args);
      assert.equal(code, 0, screen);
      assert.match(screen, /\[=* *\] +\d+% {2}[\d.]+ \w+ of [\d.]+ MiB {2}[\d.]+ \w+\/s {2}\S+ left/);
      assert.match(
        screen,
        /\r\u001b\[K[^\r]*(Uploaded|Downloaded|Read) /,
        "the progress line is removed before the result",
      );
      const piped = await shell.run(args);
      assert.deepEqual([piped.code, piped.stderr], [0, ""]);
    }
    const json = await inTerminal(shell, ["object", "get", "photos/big", "copy", "--json"], {
      redirection: "2>&-",
    });
    assert.match(json.screen, /^{\r\n {2}"key": "big",/, "JSON is indented on a terminal");
  },
);

onTerminal(
  "tables have a header and colours on a terminal, and no colours with NO_COLOR or on a dumb terminal",
  async (t) => {
    const shell = await withObjects(t);
    const coloured = await inTerminal(shell, ["object", "list", "photos"]);
    assert.match(coloured.screen, /^\u001b\[2m +SIZE {2}UPLOADED {13}KEY\u001b\[22m\r\n/);
    assert.match(coloured.screen, /^ +7 B {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}cat\.txt\r$/m);
    assert.match(
      coloured.screen,
      / 2\.9 MiB .* evil\\x1b\[2J\\nkey\r$/m,
      "control characters of a key are escaped",
    );
    for (const environment of [{ NO_COLOR: "1" }, { TERM: "dumb" }] as Record<string, string>[]) {
      const plain = await inTerminal(shell, ["object", "list", "photos"], { environment });
      assert.ok(!plain.screen.includes(csi), "no colours");
      assert.match(plain.screen, /^ +SIZE {2}UPLOADED/);
      const failed = await inTerminal(shell, ["bucket", "info", "nowhere"], { environment });
      assert.ok(failed.screen.startsWith("error: There is no bucket"));
    }
    const failed = await inTerminal(shell, ["bucket", "info", "nowhere"]);
    assert.ok(failed.screen.startsWith(`${csi}31m`), "errors are red");
    const help = await inTerminal(shell, ["--help"], { environment: { NO_COLOR: "" } });
    assert.ok(help.screen.includes(`${csi}1mUsage`), "an empty NO_COLOR counts as unset");
  },
);

onTerminal("object get prints text to a terminal, and binary data only with - as the target", async (t) => {
  const shell = await withObjects(t);
  assert.equal((await inTerminal(shell, ["object", "get", "photos/cat.txt"])).screen, "a cät\r\n");
  await shell.run(["object", "put", "photos/bytes", "-"], { input: Buffer.from([1, 0, 255]) });
  const refused = await inTerminal(shell, ["object", "get", "photos/bytes"]);
  assert.equal(refused.code, 1);
  assert.match(refused.screen, /is not text and would garble the terminal.*Write it to a file/s);
  await shell.run(["object", "put", "photos/latin", "-"], { input: Buffer.from([0xe4, 0x20]) });
  assert.equal((await inTerminal(shell, ["object", "get", "photos/latin"])).code, 1);
  assert.equal((await inTerminal(shell, ["object", "get", "photos/bytes", "-"])).code, 0);
  await inTerminal(shell, ["object", "get", "photos/bytes"], { redirection: "> out" });
  assert.deepEqual([...(await readFile(join(shell.directory, "out")))], [1, 0, 255]);
});

test("hidden input supports the usual editing keys", () => {
  const typed = (...pieces: (string | Uint8Array)[]) => {
    const line = createHiddenLine();
    const outcomes = pieces.map((piece) => line.type(typeof piece === "string" ? Buffer.from(piece) : piece));
    return [line.text(), outcomes.at(-1)];
  };
  assert.deepEqual(typed("secret\r"), ["secret", "done"]);
  assert.deepEqual(typed("se", "cret", "\n"), ["secret", "done"]);
  assert.deepEqual(typed("secret\rmore"), ["secret", "done"], "a pasted second line is not part of it");
  assert.deepEqual(typed("sex\u007fcret\b\bet\r"), ["secret", "done"]);
  assert.deepEqual(typed("\u007f\u007fa\r"), ["a", "done"]);
  assert.deepEqual(typed("\u{1f600}\u007fa\r"), ["a", "done"], "backspace removes a whole character");
  assert.deepEqual(typed("wrong\u0015right\r"), ["right", "done"], "Ctrl-U erases the line");
  assert.deepEqual(typed("a\u001b[D\u001b[3~b\u001bOPc\r"), ["abc", "done"], "arrow keys insert nothing");
  assert.deepEqual(
    typed("a\u001b", "[D", "b\r"),
    ["ab", "done"],
    "the bytes of an arrow key may arrive separately",
  );
  const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
  assert.deepEqual(
    typed(first, second, "\r"),
    ["é", "done"],
    "the bytes of a character may arrive separately",
  );
  assert.deepEqual(typed("half\u0003"), ["half", "interrupted"]);
  assert.deepEqual(typed("\u0004"), ["", "interrupted"], "Ctrl-D with nothing typed");
  assert.deepEqual(typed("all\u0004"), ["all", "done"]);
  assert.deepEqual(typed("tab\there\r"), ["tab\there", "done"]);
});

test("the progress line shows percentage, bytes, speed and time left, and fits every terminal width", () => {
  const MiB = 1024 * 1024;
  const state = { label: "photos/cat.jpg", done: 120 * MiB, total: 300 * MiB, seconds: 2 };
  assert.equal(
    progressLine(state, 120),
    "photos/cat.jpg  [============                  ]  40%  120.0 MiB of 300.0 MiB  60.0 MiB/s  3s left",
  );
  for (let columns = 1; columns <= 200; columns++)
    assert.ok(progressLine(state, columns).length < columns || columns === 1);
  assert.equal(progressLine({ ...state, total: undefined }, 80), "photos/cat.jpg  120.0 MiB  60.0 MiB/s");
  assert.match(
    progressLine({ ...state, done: 0, seconds: 0 }, 120),
    / {3}0% {2}0 B of 300\.0 MiB {2}0 B\/s {2}-- left$/,
  );
  assert.match(progressLine({ ...state, total: 0, done: 0 }, 120), /100%/);
  assert.match(progressLine({ ...state, done: MiB, seconds: 20 }, 120), /1h 39m left$/);
  assert.match(progressLine({ ...state, done: 30 * MiB, seconds: 10 }, 120), /1m 30s left$/);
});
