-- A concept and everything below it. Parents may form cycles.
WITH RECURSIVE branch(number) AS (
    SELECT ? UNION SELECT child FROM parents JOIN branch ON parents.parent = branch.number)
SELECT number FROM branch
