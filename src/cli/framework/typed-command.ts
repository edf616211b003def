// Rewrites commands in messages to the form that the user must type: `store` is on the PATH only
// after a global installation; otherwise the command is `npx store-server`.

const packageName = "store-server";

/** `program` is the path by which this process was started. */
export function typedCommands(program: string, commands: readonly string[]): (text: string) => string {
  if (!/[\\/]node_modules[\\/]\.bin[\\/][^\\/]*$/.test(program)) return (text) => text;
  const command = new RegExp(
    `(?<![\\w./"-])store (?=(?:${commands.join("|")}|<command>|--help)(?![\\w]))`,
    "g",
  );
  return (text) => text.replaceAll(command, `npx ${packageName} `);
}
