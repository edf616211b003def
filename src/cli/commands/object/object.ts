// `store object …`: the commands for objects and their versions.
import type { CommandGroup } from "../../framework/command.ts";
import { deleteCommand } from "./delete.ts";
import { getCommand } from "./get.ts";
import { headCommand } from "./head.ts";
import { listCommand } from "./list.ts";
import { legalHoldCommand, retentionCommand } from "./locks.ts";
import { putCommand } from "./put.ts";
import { tagsCommand } from "./tags.ts";
import { urlCommand } from "./url.ts";
import { versionsCommand } from "./versions.ts";

export const objectCommands: CommandGroup = {
  name: "object",
  summary: "Upload, download, list and delete objects and their versions",
  commands: [
    putCommand,
    getCommand,
    headCommand,
    listCommand,
    versionsCommand,
    urlCommand,
    tagsCommand,
    retentionCommand,
    legalHoldCommand,
    deleteCommand,
  ],
};
