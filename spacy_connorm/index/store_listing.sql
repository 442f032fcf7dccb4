-- The values that concepts have in a table, by the numbers of the concepts.
INSERT INTO main.{table}
SELECT listed.value, numbered.number FROM stage.{table} AS listed
CROSS JOIN stage.concepts AS staged ON staged.place = listed.place
CROSS JOIN main.concepts AS numbered ON numbered.id = staged.id
ORDER BY numbered.number, listed.rowid
