-- Groups by build: how many dumps, of how many devices.
SELECT
  signature,
  build,
  COUNT(*) AS rings,
  COUNT(DISTINCT device) AS devices,
  MIN(time) AS first_time,
  MAX(time) AS last_time
FROM rings
WHERE outcome = 'bad' AND signature IS NOT NULL
GROUP BY signature, build
