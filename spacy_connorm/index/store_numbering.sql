-- Concepts of the annotated data only are named by their most frequent text.
CREATE INDEX stage.said_of ON unknown (place, text);
UPDATE stage.concepts SET name = (
    SELECT text FROM stage.unknown AS said WHERE said.place = concepts.place
    GROUP BY text ORDER BY count(*) DESC, text LIMIT 1)
WHERE NOT in_ontology;

INSERT INTO main.concepts
SELECT row_number() OVER (ORDER BY id) - 1, id, name, definition, in_ontology, vocabulary
FROM stage.concepts ORDER BY id;

INSERT INTO main.parents
SELECT parent.number, child.number FROM stage.parents AS listed
CROSS JOIN main.concepts AS parent ON parent.id = listed.value
CROSS JOIN stage.concepts AS staged ON staged.place = listed.place
CROSS JOIN main.concepts AS child ON child.id = staged.id
ORDER BY child.number, listed.rowid;

-- One row per concept: CURIEs have no spaces.
INSERT INTO main.xrefs
SELECT number, group_concat(value, ' ') FROM (
    SELECT numbered.number AS number, listed.value AS value FROM stage.xrefs AS listed
    CROSS JOIN stage.concepts AS staged ON staged.place = listed.place
    CROSS JOIN main.concepts AS numbered ON numbered.id = staged.id
    ORDER BY numbered.number, listed.rowid)
GROUP BY number;

-- The same name may be in several languages; the first one is meant.
INSERT INTO main.languages
SELECT numbered.number, listed.name, listed.language FROM stage.languages AS listed
CROSS JOIN stage.concepts AS staged ON staged.place = listed.place
CROSS JOIN main.concepts AS numbered ON numbered.id = staged.id
ORDER BY numbered.number, listed.rowid;

INSERT INTO main.vocabularies
SELECT vocabulary FROM stage.concepts WHERE vocabulary != ''
UNION SELECT substr(value, 1, instr(value, ':') - 1) FROM stage.xrefs ORDER BY 1;
