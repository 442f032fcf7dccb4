-- The concepts above a concept. Parents may form cycles.
WITH RECURSIVE above(number) AS (
    SELECT parent FROM parents WHERE child = ?
    UNION SELECT parent FROM parents JOIN above ON parents.child = above.number)
SELECT number FROM above
