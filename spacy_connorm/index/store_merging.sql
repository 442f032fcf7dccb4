-- What a concept with a repeated id has several times counts once.
DELETE FROM stage.{table} WHERE place IN (SELECT place FROM stage.repeated) AND rowid NOT IN (
    SELECT min(rowid) FROM stage.{table} WHERE place IN (SELECT place FROM stage.repeated)
    GROUP BY value, place)
