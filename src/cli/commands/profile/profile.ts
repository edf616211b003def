// `store profile …`: adds, lists and removes the services that commands reach by name.
import type { Command, CommandGroup } from "../../framework/command.ts";
import { readProfiles, requireProfile, writeProfiles } from "../../store/remote/profiles.ts";
import { addCommand } from "./add.ts";

const listCommand: Command = {
  name: "list",
  summary: "List the profiles, without their secrets",
  usage: [""],
  options: {},
  examples: ["store profile list", "store profile list --json"],
  async run(invocation) {
    const { output } = invocation;
    const profiles = [...(await readProfiles(invocation))].map(([name, profile]) => {
      const { endpoint, region, accessKeyId, console: consoleUrl } = profile;
      return { name, endpoint, region, accessKeyId, console: consoleUrl ?? null };
    });
    if (output.isJson) return output.json(profiles);
    if (profiles.length === 0) {
      output.note(
        "There are no profiles yet. Add one: store profile add NAME --endpoint URL --access-key ID",
      );
    }
    await output.table(
      [
        { name: "NAME" },
        { name: "ENDPOINT" },
        { name: "REGION" },
        { name: "ACCESS KEY" },
        { name: "CONSOLE" },
      ],
      profiles.map(({ name, endpoint, region, accessKeyId, console: consoleUrl }) => [
        ...[name, endpoint, region, accessKeyId, consoleUrl ?? "-"],
      ]),
    );
  },
};

const removeCommand: Command = {
  name: "remove",
  summary: "Remove a profile and its secrets from this machine",
  usage: ["<name>"],
  options: {},
  examples: ["store profile remove work"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    await requireProfile(invocation, name);
    const left = new Map(await readProfiles(invocation));
    left.delete(name);
    await writeProfiles(invocation, left);
    if (output.isJson) await output.json({ name, removed: true });
    else await output.line(`Removed profile ${output.name(name)}.`);
  },
};

export const profileCommands: CommandGroup = {
  name: "profile",
  summary: "Name the servers and S3 services that commands work on",
  commands: [addCommand, listCommand, removeCommand],
};
