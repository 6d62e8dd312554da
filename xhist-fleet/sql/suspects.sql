-- Statements by how suspicious the dumps of a group and all good dumps make them: Ochiai's formula,
-- bad / sqrt(all bad * (bad + good)).
SELECT
  c.signature AS signature,
  c.file AS file,
  c.line AS line,
  c.function AS function,
  c.statement AS statement,
  c.bad AS bad,
  totals.rings AS all_bad,
  COALESCE(g.good, 0) AS good,
  CAST(c.bad AS DOUBLE) / SQRT(CAST(totals.rings AS DOUBLE) * CAST(c.bad + COALESCE(g.good, 0) AS DOUBLE)) AS score
FROM statement_counts AS c
JOIN (
  SELECT signature, COUNT(*) AS rings
  FROM rings
  WHERE outcome = 'bad' AND signature IS NOT NULL
  GROUP BY signature
) AS totals ON c.signature = totals.signature
LEFT JOIN good_counts AS g ON c.statement = g.statement
