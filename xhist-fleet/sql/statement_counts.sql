-- For each group and statement: bad dumps of the group that ran it. `place` combines build and line, so that the line is
-- that of the newest build.
SELECT
  r.signature AS signature,
  s.statement AS statement,
  MIN(s.file) AS file,
  MIN(s.function) AS function,
  CAST(MAX(b.ordinal * 10000000 + s.line) % 10000000 AS BIGINT) AS line,
  COUNT(*) AS bad
FROM spectra AS s
JOIN rings AS r ON s.ring = r.ring
JOIN builds AS b ON r.build = b.build
WHERE r.outcome = 'bad' AND r.signature IS NOT NULL
GROUP BY r.signature, s.statement
