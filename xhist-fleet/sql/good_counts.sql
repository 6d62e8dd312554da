-- For each statement: good dumps that ran it.
SELECT
  s.statement AS statement,
  COUNT(*) AS good
FROM spectra AS s
JOIN rings AS r ON s.ring = r.ring
WHERE r.outcome = 'good'
GROUP BY s.statement
