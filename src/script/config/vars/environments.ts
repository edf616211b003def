// Environments: `[env.NAME]` contains overrides. It inherits keys that describe the script, but not
// the content of env, so that no environment uses the data of another by mistake.
import { nearest } from "../../../model/names/did-you-mean.ts";
import { configError } from "../syntax/error.ts";
import { type Fields, isTable, type Table } from "../syntax/fields.ts";
import type { ConfigSource } from "../syntax/source.ts";
import { createOrigins, createView } from "../syntax/view.ts";

/** Keys that an environment does not inherit; it inherits every other key. */
export const ownKeys: readonly string[] = ["vars", "store_buckets", "kv_namespaces", "define", "env"];

/** Returns the configuration of an environment. Default: the top level of the file. */
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
  // `route` and `routes` are equivalent: either in the environment overrides both at the top level.
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

/** Checks the keys of every environment of a store file, not only of the selected one. */
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
