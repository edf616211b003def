// Wrangler files that a build tool generates. Their paths start at the file, keys that the author
// did not write have defaults, and a build is of one environment.
import { configError } from "../syntax/error.ts";
import { isTable, type Table } from "../syntax/fields.ts";
import type { ConfigSource } from "../syntax/source.ts";
import { selectEnvironment } from "../vars/environments.ts";
import { ownWranglerKeys } from "./keys.ts";

export function isGenerated({ configPath, userConfigPath }: Table): boolean {
  return typeof configPath === "string" || typeof userConfigPath === "string";
}

/** Returns the wrangler file of an environment. A generated file is that environment already. */
export function selectWranglerEnvironment(source: ConfigSource, name: string | undefined): ConfigSource {
  const top = isTable(source.value) ? source.value : {};
  const isOwn = (key: string) => ownWranglerKeys.includes(key);
  if (!name || !isGenerated(top)) return selectEnvironment(source, name, isOwn);
  if (top.targetEnvironment === name) return selectEnvironment(source, undefined, isOwn);
  const built =
    typeof top.targetEnvironment === "string"
      ? `the environment "${top.targetEnvironment}"`
      : "the top level of the file";
  const message = `The project was built for ${built}, not for the environment "${name}".`;
  const hint = `Build it again, for example: CLOUDFLARE_ENV=${name} npm run build`;
  const at = top.targetEnvironment === undefined ? "configPath" : "targetEnvironment";
  const { value } = source.positions.find([at]);
  throw configError(source, [{ span: value, message, hint }]);
}
