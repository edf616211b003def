// Schema version 6: further settings of a bucket. The functions are those of version 5 with more
// settings.
import { objectCases, objectCheck, uploadCheck } from "./shared-fragments.ts";

/** The column of each setting. */
const columns: Readonly<Record<string, string>> = {
  cors: "cors",
  lifecycle: "lifecycle",
  notifications: "notifications",
  publication: "publication",
  versioning: "versioning",
  objectLock: "object_lock",
  lockRules: "lock_rules",
  tags: "tags",
  quota: "quota",
  policy: "policy",
  publicAccessBlock: "public_access_block",
  encryption: "encryption",
  ownership: "ownership",
  region: "region",
};

const addedColumns = ["quota", "policy", "public_access_block", "encryption", "ownership", "region"];

const readCases = Object.entries(columns)
  .map(([name, column]) => `          WHEN '${name}' THEN ${column}`)
  .join("\n");
const writeCases = Object.entries(columns)
  .map(([name, column]) => {
    const update = `UPDATE store.buckets SET ${column} = m->>'text' WHERE id = p_bucket`;
    return `      WHEN '${name}' THEN ${update};`;
  })
  .join("\n");

export const moreSettings = `
  ALTER TABLE store.buckets ${addedColumns.map((name) => `ADD COLUMN ${name} text`).join(", ")};

  CREATE OR REPLACE FUNCTION store.holds(p_bucket bigint, p_check jsonb, p_key bytea) RETURNS boolean
    LANGUAGE plpgsql AS $$
  DECLARE
    found_version text;
    found_revision bigint;
    found_active boolean;
    found_setting text;
    found_record text;
  BEGIN
${objectCheck}    IF p_check->>'kind' = 'version' THEN
      SELECT record INTO found_record FROM store.objects
        WHERE bucket = p_bucket AND key = p_key AND version = p_check->>'version' FOR UPDATE;
      IF NOT FOUND THEN
        SELECT record INTO found_record FROM store.history
          WHERE bucket = p_bucket AND key = p_key AND version = p_check->>'version' FOR UPDATE;
      END IF;
      RETURN coalesce(found_record = p_check->>'record', false);
    END IF;
    IF p_check->>'kind' = 'setting' THEN
      SELECT CASE p_check->>'name'
${readCases} END
        INTO found_setting FROM store.buckets WHERE id = p_bucket FOR NO KEY UPDATE;
      RETURN found_setting IS NOT DISTINCT FROM p_check->>'text';
    END IF;
${uploadCheck}  END $$;

  -- Mutations that do not depend on versioning, and those of objects in a bucket without versioning.
  CREATE OR REPLACE FUNCTION store.apply(p_bucket bigint, m jsonb, p_key bytea, p_inline bytea, p_is_new boolean)
    RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    CASE m->>'kind'
${objectCases}      WHEN 'tell' THEN PERFORM store.tell(p_bucket, m, p_key);
${writeCases}
      -- Without "since", because later puts of this bucket do not set that column.
      WHEN 'put copy' THEN PERFORM store.put_copy(p_bucket, m - 'since', p_key);
      WHEN 'delete version' THEN PERFORM store.delete_version(p_bucket, p_key, m->>'version');
      WHEN 'replace body' THEN PERFORM store.replace_body(p_bucket, m, p_key, p_inline);
    END CASE;
  END $$;
`;
