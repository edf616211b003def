// Schema version 6: another body for an existing version, whose id stays.

const body = `blob = m->>'blob', stored = (m->>'stored')::bigint, manifest = new_manifest,
      inline = p_inline, record = m->>'record'`;

export const replaceBody = `
  CREATE FUNCTION store.replace_body(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea) RETURNS void
    LANGUAGE plpgsql AS $$
  DECLARE
    new_manifest bigint;
    old_blob text;
    old_manifest bigint;
    old_entry bigint;
  BEGIN
    IF m ? 'blob' THEN PERFORM store.name_blob(p_bucket, m->>'blob'); END IF;
    IF m ? 'manifest' THEN
      PERFORM store.name_blob(p_bucket, part->>2)
        FROM jsonb_array_elements((m->>'manifest')::jsonb->1) AS part;
      INSERT INTO store.manifests (parts) VALUES (m->>'manifest') RETURNING id INTO new_manifest;
    END IF;
    SELECT blob, manifest INTO old_blob, old_manifest FROM store.objects
      WHERE bucket = p_bucket AND key = p_key AND version = m->>'version' FOR UPDATE;
    IF FOUND THEN
      UPDATE store.objects SET ${body}, was_blob = NULL, was_manifest = NULL
        WHERE bucket = p_bucket AND key = p_key;
    ELSE
      SELECT blob, manifest, entry INTO old_blob, old_manifest, old_entry FROM store.history
        WHERE bucket = p_bucket AND key = p_key AND version = m->>'version' AND NOT is_marker FOR UPDATE;
      IF NOT FOUND THEN RAISE EXCEPTION 'the replaced version is missing'; END IF;
      UPDATE store.history SET ${body} WHERE bucket = p_bucket AND entry = old_entry;
    END IF;
    PERFORM store.release(p_bucket, old_blob, old_manifest);
  END $$;
`;
