// Schema version 4: a commit can check that a setting is unchanged, so that concurrent changes to a
// bucket's rules do not overwrite each other.
import { objectCheck, uploadCheck } from "./shared-fragments.ts";

export const settingChecks = `
  CREATE OR REPLACE FUNCTION store.holds(p_bucket bigint, p_check jsonb, p_key bytea) RETURNS boolean
    LANGUAGE plpgsql AS $$
  DECLARE
    found_version text;
    found_revision bigint;
    found_active boolean;
    found_setting text;
  BEGIN
${objectCheck}    IF p_check->>'kind' = 'setting' THEN
      SELECT CASE p_check->>'name'
          WHEN 'cors' THEN cors WHEN 'lifecycle' THEN lifecycle
          WHEN 'notifications' THEN notifications WHEN 'publication' THEN publication END
        INTO found_setting FROM store.buckets WHERE id = p_bucket FOR NO KEY UPDATE;
      RETURN found_setting IS NOT DISTINCT FROM p_check->>'text';
    END IF;
${uploadCheck}  END $$;
`;
