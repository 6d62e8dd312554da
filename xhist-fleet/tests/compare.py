"""The same queries by xhist-fleet, DuckDB and Spark: each row must be equal.

compare.py XHIST_FLEET DIR ENGINE... prints a line for each query and engine.
"""

import datetime
import json
import os
import subprocess
import sys
import time

QUERIES = {
    "tables": " UNION ALL ".join(
        f"SELECT '{table}' AS name, COUNT(*) AS number FROM {table}"
        for table in ["rings", "labels", "statements", "records", "recorded_values", "spectra", "losses"]
    ),
    "builds": "SELECT build, ordinal, rings, bad, devices, CAST(first_time AS DATE) AS first FROM builds",
    "groups": "SELECT signature, title, rings, devices, first_build, last_build, file, line, function, stack, "
    "example, source FROM groups",
    "group_builds": "SELECT signature, build, rings, devices FROM group_builds",
    "suspects": "SELECT signature, file, line, function, statement, bad, all_bad, good, score FROM suspects",
    "days": "SELECT build, day, outcome, ended, COUNT(*) AS number FROM rings GROUP BY build, day, outcome, ended",
    "statements": "SELECT file, line, function, statement, SUM(repetition) AS times, COUNT(DISTINCT ring) AS rings "
    "FROM statements GROUP BY file, line, function, statement",
    "rings": "SELECT ring, device, map, outcome, ended, signature, thread, line, threads, entries, left_out, losses, "
    "bytes, build, day FROM rings",
}


def cell(value):
    """A value that is equal in all engines."""
    if value is None:
        return ""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()[:10]
    if isinstance(value, float):
        return f"{value:.9f}"
    if hasattr(value, "as_tuple"):
        return str(int(value))
    return str(value)


def rows(table):
    return sorted(tuple(cell(value) for value in row) for row in table)


def fleet(program, sql):
    command = [program, "query", ".", sql, "--format", "json"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [name.split()[-1].split(".")[-1] for name in columns(sql)]
    return [[json.loads(line).get(name) for name in names] for line in out.splitlines()]


def columns(sql):
    """The names between the first SELECT and its FROM."""
    listed, depth, name = [], 0, ""
    for char in sql[len("SELECT ") : sql.index(" FROM ")]:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            listed.append(name)
            name = ""
        else:
            name += char
    return listed + [name]


def duckdb_engine():
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(open("sql/duckdb.sql").read())
    return lambda sql: connection.execute(sql).fetchall()


def spark_engine():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    lines = [line for line in open("sql/spark.sql") if not line.startswith("--")]
    for statement in "".join(lines).split(";"):
        if statement.strip():
            session.sql(statement)
    return lambda sql: [tuple(row) for row in session.sql(sql).collect()]


def main():
    program, directory, *engines = sys.argv[1:]
    os.chdir(directory)
    failed = False
    expected = {}
    for name, sql in QUERIES.items():
        began = time.time()
        expected[name] = rows(fleet(program, sql))
        print(f"{name} fleet {len(expected[name])} rows {time.time() - began:.2f} s")
    for engine in engines:
        run = {"duckdb": duckdb_engine, "spark": spark_engine}[engine]()
        for name, sql in QUERIES.items():
            began = time.time()
            found = rows(run(sql))
            same = found == expected[name]
            print(f"{name} {engine} {len(found)} rows {time.time() - began:.2f} s {'equal' if same else 'DIFFERENT'}")
            if not same:
                failed = True
                for row in [row for row in found if row not in expected[name]][:3]:
                    print(f"  only {engine}: {row}")
                for row in [row for row in expected[name] if row not in found][:3]:
                    print(f"  only fleet: {row}")
    sys.exit(failed)


main()
