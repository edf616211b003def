// Access keys that the store creates for itself: one that `store dev` prints, and one that presigns
// URLs for scripts and commands. A key is reused until a user deletes or disables it.
import type { Documents } from "../../engine/records.ts";
import { type Credential, createCredentials } from "./credentials.ts";

const kind = "own access key";

export async function getInternalKey(
  documents: Documents,
  secretKey: Uint8Array,
  purpose: "dev" | "presign",
): Promise<Credential> {
  const credentials = createCredentials(documents, secretKey, Date.now);
  for (;;) {
    const document = await documents.get(kind, purpose);
    const credential = document === undefined ? undefined : await credentials.find(document.text);
    if (credential?.state === "active") return credential;
    const created = await credentials.create();
    if ((await documents.put(kind, purpose, created.accessKeyId, document?.revision)) === "committed")
      return created;
    // Another process created its key first: use that key.
    await credentials.delete(created.accessKeyId);
  }
}
