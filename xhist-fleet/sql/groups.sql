-- The same failure together, over all builds and devices. `example` is the newest dump of the group.
SELECT
  counted.signature AS signature,
  newest.title AS title,
  counted.rings AS rings,
  counted.devices AS devices,
  first_build.build AS first_build,
  last_build.build AS last_build,
  counted.first_time AS first_time,
  counted.last_time AS last_time,
  newest.file AS file,
  newest.line AS line,
  newest.function AS function,
  newest.stack AS stack,
  newest.ring AS example,
  newest.source AS source
FROM (
  SELECT
    r.signature AS signature,
    COUNT(*) AS rings,
    COUNT(DISTINCT r.device) AS devices,
    MIN(b.ordinal) AS first_ordinal,
    MAX(b.ordinal) AS last_ordinal,
    MIN(r.time) AS first_time,
    MAX(r.time) AS last_time
  FROM rings AS r
  JOIN builds AS b ON r.build = b.build
  WHERE r.outcome = 'bad' AND r.signature IS NOT NULL
  GROUP BY r.signature
) AS counted
JOIN (
  SELECT
    r.signature AS signature,
    r.title AS title,
    r.file AS file,
    r.line AS line,
    r.function AS function,
    r.stack AS stack,
    r.ring AS ring,
    r.source AS source,
    ROW_NUMBER() OVER (PARTITION BY r.signature ORDER BY r.time DESC, r.ring) AS place
  FROM rings AS r
  WHERE r.outcome = 'bad' AND r.signature IS NOT NULL
) AS newest ON counted.signature = newest.signature AND newest.place = 1
JOIN builds AS first_build ON counted.first_ordinal = first_build.ordinal
JOIN builds AS last_build ON counted.last_ordinal = last_build.ordinal
