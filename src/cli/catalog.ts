// All commands by name. The module of a command is loaded only when the command is needed, to keep
// startup fast.
import { nearest } from "../model/names/did-you-mean.ts";
import { type Command, type CommandGroup, isGroup } from "./framework/command.ts";
import { type CommandError, usageError } from "./framework/command-error.ts";

export interface CatalogEntry {
  readonly name: string;
  /** Left out of help, completions and documentation: for programs, not for people. */
  readonly isHidden?: true;
  load(): Promise<Command | CommandGroup>;
}

export const catalog: readonly CatalogEntry[] = [
  { name: "init", load: async () => (await import("./commands/init.ts")).initCommand },
  { name: "dev", load: async () => (await import("./commands/dev.ts")).devCommand },
  { name: "serve", load: async () => (await import("./commands/serve.ts")).serveCommand },
  { name: "bucket", load: async () => (await import("./commands/bucket/bucket.ts")).bucketCommands },
  { name: "object", load: async () => (await import("./commands/object/object.ts")).objectCommands },
  { name: "kv", load: async () => (await import("./commands/kv/kv.ts")).kvCommands },
  { name: "cp", load: async () => (await import("./commands/files/copy-objects.ts")).cpCommand },
  { name: "mv", load: async () => (await import("./commands/files/copy-objects.ts")).mvCommand },
  { name: "rm", load: async () => (await import("./commands/files/rm.ts")).rmCommand },
  { name: "ls", load: async () => (await import("./commands/files/ls.ts")).lsCommand },
  { name: "du", load: async () => (await import("./commands/files/du.ts")).duCommand },
  { name: "sync", load: async () => (await import("./commands/files/sync.ts")).syncCommand },
  { name: "profile", load: async () => (await import("./commands/profile/profile.ts")).profileCommands },
  { name: "import", load: async () => (await import("./commands/import.ts")).importCommand },
  { name: "secret", load: async () => (await import("./commands/secret.ts")).secretCommands },
  { name: "key", load: async () => (await import("./commands/key/key.ts")).keyCommands },
  { name: "role", load: async () => (await import("./commands/role.ts")).roleCommands },
  { name: "quota", load: async () => (await import("./commands/quota/quota.ts")).quotaCommands },
  {
    name: "encryption",
    load: async () => (await import("./commands/encryption/encryption.ts")).encryptionCommands,
  },
  { name: "console", load: async () => (await import("./commands/console.ts")).consoleCommands },
  { name: "user", load: async () => (await import("./commands/administration/user.ts")).userCommands },
  { name: "types", load: async () => (await import("./commands/types.ts")).typesCommand },
  { name: "status", load: async () => (await import("./commands/health/status.ts")).statusCommand },
  { name: "doctor", load: async () => (await import("./commands/health/doctor.ts")).doctorCommand },
  { name: "logs", load: async () => (await import("./commands/health/logs.ts")).logsCommand },
  { name: "prove", load: async () => (await import("./commands/health/prove.ts")).proveCommand },
  { name: "verify", load: async () => (await import("./commands/verify.ts")).verifyCommand },
  { name: "backup", load: async () => (await import("./commands/backup/backup.ts")).backupCommand },
  { name: "restore", load: async () => (await import("./commands/backup/restore.ts")).restoreCommand },
  { name: "copy", load: async () => (await import("./commands/copy.ts")).copyCommand },
  { name: "migrate", load: async () => (await import("./commands/migrate.ts")).migrateCommand },
  { name: "audit", load: async () => (await import("./commands/administration/audit.ts")).auditCommand },
  {
    name: "completions",
    load: async () => (await import("./commands/completion/completions.ts")).completionsCommand,
  },
  {
    name: "complete",
    isHidden: true,
    load: async () => (await import("./commands/completion/complete.ts")).completeCommand,
  },
  { name: "help", load: async () => (await import("./commands/help.ts")).helpCommand },
];

/** The commands that people see. */
export const shownCatalog: readonly CatalogEntry[] = catalog.filter(({ isHidden }) => isHidden !== true);

export interface FoundCommand {
  readonly entry: Command | CommandGroup;
  /** The words that name the command, for example "bucket create". */
  readonly path: string;
}

/** Finds the command or group at the start of `words`; throws a usage error if there is none. */
export async function findCommand(words: readonly string[]): Promise<FoundCommand> {
  const [first = "", second] = words;
  const found = catalog.find(({ name }) => name === first);
  if (found === undefined) throw unknownCommand("", first, names(shownCatalog));
  const entry = await found.load();
  if (!isGroup(entry) || second === undefined) return { entry, path: first };
  const command = entry.commands.find(({ name }) => name === second);
  if (command === undefined) throw unknownCommand(`${first} `, second, names(entry.commands));
  return { entry: command, path: `${first} ${second}` };
}

function names(entries: readonly { readonly name: string }[]): string[] {
  return entries.map(({ name }) => name);
}

/** Command names that other tools use, with the corresponding names in Store. */
const synonyms: Readonly<Record<string, string>> = {
  ls: "list",
  rm: "delete",
  remove: "delete",
  add: "create",
  make: "create",
  new: "create",
  upload: "put",
  download: "get",
  cat: "get",
  set: "put",
  show: "info",
  run: "dev",
  start: "serve",
  check: "verify",
  buckets: "bucket list",
  log: "logs",
  tail: "logs",
  ps: "status",
  info: "status",
  health: "doctor",
  move: "mv",
};

function unknownCommand(parent: string, word: string, commandNames: readonly string[]): CommandError {
  const synonym = Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  const suggestion =
    synonym !== undefined && commandNames.includes(synonym.split(" ")[0]!)
      ? synonym
      : nearest(word, commandNames);
  return usageError(`There is no command "store ${parent}${word}".`, [
    ...(suggestion === undefined ? [] : [`Did you mean: store ${parent}${suggestion}`]),
    `List all commands: store ${parent}--help`,
  ]);
}
