//! Which column each async task has, if lanes are those of tasks: a few columns, which later tasks use again.

/// Columns of tasks, besides the one of what no task ran.
const COLUMNS: usize = 5;

/// The columns, the first of which is that of what no task ran.
#[derive(Debug, Default)]
pub struct TaskColumns {
    /// The task of each column, and when the column was used last.
    columns: Vec<(Option<u32>, u64)>,
    used: u64,
}

impl TaskColumns {
    /// The column of a task, and whether it did not have that column before. The column that was unused for longest is
    /// used again.
    pub fn of(&mut self, task: Option<u32>) -> (usize, bool) {
        self.used += 1;
        let is_new = self.columns.is_empty();
        if is_new {
            self.columns.push((None, self.used));
        }
        if let Some(column) = self.columns.iter().position(|(of, _)| *of == task) {
            self.columns[column].1 = self.used;
            return (column, is_new && column == 0);
        }
        if self.columns.len() <= COLUMNS {
            self.columns.push((task, self.used));
            return (self.columns.len() - 1, true);
        }
        let oldest = (1..self.columns.len()).min_by_key(|column| self.columns[*column].1).unwrap_or(0);
        self.columns[oldest] = (task, self.used);
        (oldest, true)
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_unused_for_longest_is_used_again() {
        let mut columns = TaskColumns::default();
        assert_eq!((columns.of(None), columns.of(None), columns.len()), ((0, true), (0, false), 1));
        for task in 1..=5 {
            assert_eq!(columns.of(Some(task)), (task as usize, true));
        }
        assert_eq!(
            (columns.of(Some(1)), columns.of(Some(9)), columns.of(Some(2))),
            ((1, false), (2, true), (3, true))
        );
        assert_eq!((columns.of(Some(9)), columns.of(None), columns.len()), ((2, false), (0, false), 6));
    }
}
