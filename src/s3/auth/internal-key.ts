// Keys the store makes for itself: one that `dev` shows, one that signs the URLs of scripts and commands. Each is
// the same every time, until somebody deletes or disables it.
import type { Documents } from "../../engine/records.ts";
import { type Credential, createCredentials } from "./credentials.ts";

const kind = "own access key";

export async function ownKey(
  documents: Documents,
  secretKey: Uint8Array,
  purpose: "dev" | "presign",
): Promise<Credential> {
  const credentials = createCredentials(documents, secretKey, Date.now);
  for (;;) {
    const noted = await documents.get(kind, purpose);
    const known = noted === undefined ? undefined : await credentials.find(noted.text);
    if (known?.state === "active") return known;
    const made = await credentials.create();
    if ((await documents.put(kind, purpose, made.accessKeyId, noted?.revision)) === "committed") return made;
    // Another process was faster.
    await credentials.delete(made.accessKeyId);
  }
}
