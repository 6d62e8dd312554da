-- Builds in the order in which their first dumps were written.
SELECT
  build,
  ROW_NUMBER() OVER (ORDER BY first_time, build) AS ordinal,
  first_time,
  last_time,
  rings,
  bad,
  devices
FROM (
  SELECT
    build,
    MIN(time) AS first_time,
    MAX(time) AS last_time,
    COUNT(*) AS rings,
    CAST(SUM(CASE WHEN outcome = 'bad' THEN 1 ELSE 0 END) AS BIGINT) AS bad,
    COUNT(DISTINCT device) AS devices
  FROM rings
  GROUP BY build
) AS counted
