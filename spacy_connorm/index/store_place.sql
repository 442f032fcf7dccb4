-- The concept of the ontology with an id, an alternate id or another spelling of one. If several
-- concepts share it, the first one gets it, as in the store.
SELECT place FROM (
    SELECT place, 1 AS kind, id FROM stage.concepts WHERE id = ?1 AND in_ontology
    UNION ALL
    SELECT place, 2, id FROM stage.alt_ids JOIN stage.concepts USING (place) WHERE value = ?1
    UNION ALL
    SELECT place, 3, id FROM stage.spellings JOIN stage.concepts USING (place) WHERE value = ?1)
ORDER BY kind, id LIMIT 1
