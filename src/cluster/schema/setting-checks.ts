// Schema version 4: a commit can check that a setting is unchanged, so that concurrent changes to a
// bucket's rules do not overwrite each other.
export const settingChecks = `
  CREATE OR REPLACE FUNCTION store.holds(p_bucket bigint, p_check jsonb, p_key bytea) RETURNS boolean
    LANGUAGE plpgsql AS $$
  DECLARE
    found_version text;
    found_revision bigint;
    found_active boolean;
    found_setting text;
  BEGIN
    IF p_check->>'kind' = 'object' THEN
      SELECT version INTO found_version FROM store.objects WHERE bucket = p_bucket AND key = p_key FOR UPDATE;
      RETURN found_version IS NOT DISTINCT FROM p_check->>'version';
    END IF;
    IF p_check->>'kind' = 'setting' THEN
      SELECT CASE p_check->>'name'
          WHEN 'cors' THEN cors WHEN 'lifecycle' THEN lifecycle
          WHEN 'notifications' THEN notifications WHEN 'publication' THEN publication END
        INTO found_setting FROM store.buckets WHERE id = p_bucket FOR NO KEY UPDATE;
      RETURN found_setting IS NOT DISTINCT FROM p_check->>'text';
    END IF;
    SELECT is_active, revision INTO found_active, found_revision FROM store.uploads
      WHERE bucket = p_bucket AND key = p_key AND id = p_check->>'id' FOR UPDATE;
    RETURN coalesce(found_active, false)
      AND coalesce((p_check->>'revision')::bigint, found_revision) = found_revision;
  END $$;
`;
