//! The views of a data set. Each is a SELECT that every engine understands.

/// A view.
#[derive(Clone, Copy, Debug)]
pub struct ViewRow {
    /// Its name.
    pub name: &'static str,
    /// Its SELECT.
    pub sql: &'static str,
}

/// All views; each uses only tables and views before it.
pub const VIEWS: [ViewRow; 6] = [
    ViewRow { name: "builds", sql: include_str!("../../sql/builds.sql") },
    ViewRow { name: "group_builds", sql: include_str!("../../sql/group_builds.sql") },
    ViewRow { name: "groups", sql: include_str!("../../sql/groups.sql") },
    ViewRow { name: "statement_counts", sql: include_str!("../../sql/statement_counts.sql") },
    ViewRow { name: "good_counts", sql: include_str!("../../sql/good_counts.sql") },
    ViewRow { name: "suspects", sql: include_str!("../../sql/suspects.sql") },
];

/// The name of a table in SQL. `values` is a word of the language.
pub fn sql_name(table: &str) -> &str {
    if table == "values" { "recorded_values" } else { table }
}

/// The query for the first suspects of each group that is chosen: signature, file, line, function, bad, good, score.
pub fn first_suspects(chosen: &str, limit: usize) -> String {
    format!(
        "SELECT signature, file, line, function, bad, good, score FROM ( \
           SELECT s.*, ROW_NUMBER() OVER (PARTITION BY signature ORDER BY score DESC, file, line, statement) AS place \
           FROM suspects AS s WHERE {chosen} \
         ) AS ranked WHERE place <= {limit} ORDER BY signature, place"
    )
}
