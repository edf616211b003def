// Workers Site of a wrangler file: a folder whose files the script reads and serves itself.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isTable, type Table } from "../syntax/fields.ts";
import type { Origins } from "../syntax/view.ts";
import type { Note } from "./names.ts";
import { emptySiteManifest, siteBinding, siteManifestName } from "./site-names.ts";

/** Whether the site is used: `assets` takes precedence, because only one folder is supported. */
export function hasSite({ site, assets }: Table): boolean {
  return isTable(site) && assets === undefined;
}

/** Folder of the script that wrangler 1 made for a site; undefined if the project has none. */
export function siteScriptFolder(top: Table, folder: string): string | undefined {
  if (!hasSite(top)) return undefined;
  const entry = (top.site as Table)["entry-point"];
  if (typeof entry === "string") return entry;
  return existsSync(join(folder, "workers-site")) ? "workers-site" : undefined;
}

export function addSite(top: Table, value: Record<string, unknown>, origins: Origins, note: Note): void {
  if (!hasSite(top)) return;
  const { bucket } = top.site as Table;
  origins.set(["assets"], ["site"]);
  origins.set(["assets", "directory"], ["site", "bucket"]);
  if (value.main === undefined) {
    value.assets = { directory: bucket };
    note("it has no main, so the files of its site are served without a script.");
    return;
  }
  value.assets = {
    ...{ directory: bucket, binding: siteBinding },
    ...{ run_worker_first: true, html_handling: "none" },
  };
  value.vars = { ...(isTable(value.vars) ? value.vars : {}), [siteManifestName]: emptySiteManifest };
  origins.set(["vars", siteManifestName], ["site"]);
}

export function noteSite(top: Table, note: Note): void {
  if (!isTable(top.site)) return;
  const { site } = top;
  const ignored = ["include", "exclude"].filter((key) => site[key] !== undefined).map((key) => `site.${key}`);
  if (!hasSite(top)) {
    note("its site is not served beside its assets: move the files to the folder of the assets.");
  } else if (ignored.length > 0) {
    note(`the script can read every file of its site: ${ignored.join(" and ")} have no effect in Store.`);
  }
}
