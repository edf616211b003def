// Environments: `[env.NAME]` holds what differs from the top of the file. Keys that describe the script are
// inherited from the top; what the script's env holds is not, so that no environment uses the data of another.
import { nearest } from "../../../model/did-you-mean.ts";
import { configError } from "../syntax/error.ts";
import { type Fields, isTable, type Table } from "../syntax/fields.ts";
import type { ConfigSource } from "../syntax/source.ts";
import { createOrigins, createView } from "../syntax/view.ts";

/** Not inherited by an environment; every other key is. */
export const ownKeys: readonly string[] = ["vars", "store_buckets", "kv_namespaces", "define", "env"];

/** The configuration of an environment, or of the top of the file when no name is given. */
export function selectEnvironment(
  source: ConfigSource,
  name: string | undefined,
  isOwn: (key: string) => boolean = (key) => ownKeys.includes(key),
): ConfigSource {
  const { value } = source;
  if (!isTable(value)) return source;
  const { env, ...top } = value;
  if (name === undefined || name === "") return createView(source, top, createOrigins());
  const own = findEnvironment(source, env, name);
  const origins = createOrigins();
  for (const key of Object.keys(own)) origins.set([key], ["env", name, key]);
  // Two keys with one meaning: either of them in the environment replaces both keys of the top.
  const hasRoutes = own.route !== undefined || own.routes !== undefined;
  const inherited = Object.entries(top).filter(
    ([key]) => !isOwn(key) && !(hasRoutes && (key === "route" || key === "routes")),
  );
  const merged = { ...Object.fromEntries(inherited), ...own };
  if (own.name === undefined && typeof top.name === "string") merged.name = `${top.name}-${name}`;
  return createView(source, merged, origins);
}

function findEnvironment(source: ConfigSource, env: unknown, name: string): Table {
  const environments = isTable(env) ? env : {};
  const own = Object.hasOwn(environments, name) ? environments[name] : undefined;
  if (isTable(own)) return own;
  const names = Object.keys(environments).filter((candidate) => isTable(environments[candidate]));
  const near = nearest(name, names);
  const hint =
    names.length === 0 ? "The file has no environments: leave --env out." : `They are: ${names.join(", ")}`;
  const message = `There is no environment "${name}"${near === undefined ? "." : `: did you mean ${near}?`}`;
  const { key, value } = source.positions.find(["env"]);
  throw configError(source, [{ span: key ?? value, message, hint }]);
}

/** Every environment of a store file is checked for keys that it cannot have, also those that are not used. */
export function checkEnvironments(fields: Fields, top: Table): void {
  const example = '\n    [env.staging]\n    main = "src/index.ts"';
  const environments = fields.table(["env"], top.env, fields.source.format === "toml" ? example : "") ?? {};
  for (const [name, own] of Object.entries(environments)) {
    if (!/^[A-Za-z0-9_-]{1,63}$/.test(name)) {
      fields.report(["env", name], {
        message: `An environment cannot be called ${JSON.stringify(name)}.`,
        hint: "Its name is letters, digits, dashes and underscores, at most 63 of them.",
        at: "key",
      });
    }
    fields.table(["env", name], own, "");
  }
}
