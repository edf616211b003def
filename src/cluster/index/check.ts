// Integrity checks within the database: every blob of a record must be in the blob table, and every
// blob in that table must belong to a record or be garbage.
import type { Finding } from "../../engine/records.ts";
import { type Row, type Statement, statements } from "../postgres/connection.ts";

const maxFindings = 1000;

// A part's second and third fields are its size and blob: engine/codec/record-codec.ts.
const partBlobs = "jsonb_array_elements(m.parts::jsonb->1) AS part";

const sql = statements({
  unregistered: `SELECT o.key, o.blob FROM store.buckets b JOIN store.objects o ON o.bucket = b.id
      WHERE b.name = $1 AND o.blob IS NOT NULL
        AND NOT EXISTS (SELECT FROM store.blobs k WHERE k.name = split_part(o.blob, '.', 2))
    UNION ALL SELECT o.key, part->>2 FROM store.buckets b JOIN store.objects o ON o.bucket = b.id
      JOIN store.manifests m ON m.id = o.manifest, ${partBlobs}
      WHERE b.name = $1 AND NOT EXISTS (SELECT FROM store.blobs k WHERE k.name = split_part(part->>2, '.', 2))
    UNION ALL SELECT NULL, p.blob FROM store.buckets b JOIN store.parts p ON p.bucket = b.id
      WHERE b.name = $1 AND NOT EXISTS (SELECT FROM store.blobs k WHERE k.name = split_part(p.blob, '.', 2))
    LIMIT ${maxFindings}`,
  unreferenced: `WITH named AS (
      SELECT split_part(o.blob, '.', 2) AS name FROM store.buckets b JOIN store.objects o ON o.bucket = b.id
        WHERE b.name = $1 AND o.blob IS NOT NULL
      UNION ALL SELECT split_part(part->>2, '.', 2) FROM store.buckets b JOIN store.objects o ON o.bucket = b.id
        JOIN store.manifests m ON m.id = o.manifest, ${partBlobs} WHERE b.name = $1
      UNION ALL SELECT split_part(p.blob, '.', 2) FROM store.buckets b JOIN store.parts p ON p.bucket = b.id
        WHERE b.name = $1
      UNION ALL SELECT split_part(d.blob, '.', 2) FROM store.buckets b JOIN store.dead d ON d.bucket = b.id
        WHERE b.name = $1 AND d.blob IS NOT NULL
      UNION ALL SELECT split_part(part->>2, '.', 2) FROM store.buckets b JOIN store.dead d ON d.bucket = b.id
        JOIN store.manifests m ON m.id = d.manifest, ${partBlobs} WHERE b.name = $1
    )
    SELECT NULL::bytea, k.name FROM store.buckets b JOIN store.blobs k ON k.bucket = b.id
      WHERE b.name = $1 AND NOT EXISTS (SELECT FROM named n WHERE n.name = k.name) LIMIT ${maxFindings}`,
});

export async function* checkBucketIntegrity(
  read: (statement: Statement) => Promise<readonly Row[]>,
): AsyncGenerator<Finding> {
  for (const [key, blob] of await read(sql.unregistered)) {
    const subject = key === null ? {} : { key: (key as Buffer).toString() };
    yield { ...subject, what: `Blob ${String(blob)} of a record is not in the blob table.` };
  }
  for (const [, name] of await read(sql.unreferenced)) {
    yield { what: `Blob ${String(name)} is in the blob table, but no record names it.` };
  }
}
