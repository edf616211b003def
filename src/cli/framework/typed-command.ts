// How the user of this process types the `store` command. The package puts `store` on the PATH only where it is
// installed globally; in a project, and when npx runs it from its cache, it is started by the package's name.

const packageName = "store-server";

export type Rewrite = (text: string) => string;

/** Rewrites the `store …` commands in a message; `program` is the path that this process was started by. */
export function typedCommands(program: string, commands: readonly string[]): Rewrite {
  if (!/[\\/]node_modules[\\/]\.bin[\\/][^\\/]*$/.test(program)) return (text) => text;
  const command = new RegExp(
    `(?<![\\w./"-])store (?=(?:${commands.join("|")}|<command>|--help)(?![\\w]))`,
    "g",
  );
  return (text) => text.replaceAll(command, `npx ${packageName} `);
}
