// Actions on entries of the object list, for the menu of a row and for the selection.
import { copyText } from "../elements/copy.js";
import { note, noteFailure } from "../elements/notices.js";
import { downloadEntries } from "./archive.js";
import { openMove, openNewFolder, openRename } from "./copying.js";
import { copyUrl, openShare } from "./sharing.js";

/** @import { MenuItem } from "../elements/menu.js" */
/** @import { Entry } from "./listing.js" */

/** @typedef {ReturnType<typeof entryActions>} EntryActions */

/**
 * @param {object} options
 * @param {string} options.bucket
 * @param {string} options.prefix
 * @param {boolean} options.canEdit
 * @param {() => void} options.refresh
 */
export function entryActions({ bucket, prefix, canEdit, refresh }) {
  /** @param {readonly Entry[]} entries */
  const download = (entries) => downloadEntries(bucket, prefix, entries);
  /** @param {readonly Entry[]} entries */
  const move = (entries) => openMove({ bucket, prefix, entries, done: refresh }).catch(noteFailure);
  /** @param {Entry | undefined} entry */
  const rename = (entry) => entry !== undefined && openRename(bucket, entry, refresh);
  /** @param {Entry | undefined} entry */
  const share = (entry) => {
    if (entry === undefined) return;
    if (entry.folder) note("Share an object, or download the folder as an archive and share that.", "failed");
    else openShare(bucket, entry.name);
  };

  return {
    ...{ download, move, rename, share },
    newFolder: () => openNewFolder(bucket, prefix, refresh),
    /**
     * @param {Entry} entry
     * @param {() => void} remove
     * @returns {(MenuItem | "line" | undefined | false)[]}
     */
    menu(entry, remove) {
      const { name, folder } = entry;
      return [
        {
          label: folder ? "Download as ZIP" : "Download",
          icon: "download",
          run: () => void download([entry]),
        },
        !folder && canEdit && { label: "Share…", icon: "share", run: () => share(entry) },
        !folder && { label: "Copy URL", icon: "copy", run: () => void copyUrl(bucket, name) },
        { label: "Copy key", icon: "copy", run: () => void copyText(name, "key") },
        canEdit && "line",
        canEdit && { label: "Rename…", icon: "edit", run: () => void rename(entry) },
        canEdit && { label: "Move or copy…", icon: "move", run: () => void move([entry]) },
        canEdit && "line",
        canEdit && { label: "Delete…", icon: "remove", danger: true, run: remove },
      ];
    },
  };
}
