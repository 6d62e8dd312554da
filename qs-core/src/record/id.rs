//! The one table of predefined records: id, name and group (QS 7.x).
//!
//! Decoders, filters, text and documentation read this table; a new record is a row.

/// Id of the first application record (QS 6.6 and later).
pub const USER_BASE: u8 = 100;

/// What a record is about; filters switch whole groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Information about the target and the trace itself.
    Inf,
    /// State machines.
    Sm,
    /// Active objects.
    Ao,
    /// Event queues.
    Eq,
    /// Memory pools.
    Mp,
    /// Framework.
    Qf,
    /// Time events.
    Te,
    /// Scheduler.
    Sc,
    /// Dictionaries.
    Dic,
    /// Testing.
    Tst,
    /// Errors.
    Err,
    /// Semaphores.
    Sem,
    /// Mutexes.
    Mtx,
    /// Application records.
    Usr,
}

/// A row of [`RECORDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordInfo {
    /// Record id.
    pub id: u8,
    /// Name in the QS sources.
    pub name: &'static str,
    /// Group of the record.
    pub group: Group,
}

/// Every predefined record, by id.
#[rustfmt::skip]
pub static RECORDS: &[RecordInfo] = &[
    RecordInfo { id: 0, name: "QS_EMPTY", group: Group::Inf },
    RecordInfo { id: 1, name: "QS_QEP_STATE_ENTRY", group: Group::Sm },
    RecordInfo { id: 2, name: "QS_QEP_STATE_EXIT", group: Group::Sm },
    RecordInfo { id: 3, name: "QS_QEP_STATE_INIT", group: Group::Sm },
    RecordInfo { id: 4, name: "QS_QEP_INIT_TRAN", group: Group::Sm },
    RecordInfo { id: 5, name: "QS_QEP_INTERN_TRAN", group: Group::Sm },
    RecordInfo { id: 6, name: "QS_QEP_TRAN", group: Group::Sm },
    RecordInfo { id: 7, name: "QS_QEP_IGNORED", group: Group::Sm },
    RecordInfo { id: 8, name: "QS_QEP_DISPATCH", group: Group::Sm },
    RecordInfo { id: 9, name: "QS_QEP_UNHANDLED", group: Group::Sm },
    RecordInfo { id: 10, name: "QS_QF_ACTIVE_DEFER", group: Group::Ao },
    RecordInfo { id: 11, name: "QS_QF_ACTIVE_RECALL", group: Group::Ao },
    RecordInfo { id: 12, name: "QS_QF_ACTIVE_SUBSCRIBE", group: Group::Ao },
    RecordInfo { id: 13, name: "QS_QF_ACTIVE_UNSUBSCRIBE", group: Group::Ao },
    RecordInfo { id: 14, name: "QS_QF_ACTIVE_POST", group: Group::Ao },
    RecordInfo { id: 15, name: "QS_QF_ACTIVE_POST_LIFO", group: Group::Ao },
    RecordInfo { id: 16, name: "QS_QF_ACTIVE_GET", group: Group::Ao },
    RecordInfo { id: 17, name: "QS_QF_ACTIVE_GET_LAST", group: Group::Ao },
    RecordInfo { id: 18, name: "QS_QF_ACTIVE_RECALL_ATTEMPT", group: Group::Ao },
    RecordInfo { id: 19, name: "QS_QF_EQUEUE_POST", group: Group::Eq },
    RecordInfo { id: 20, name: "QS_QF_EQUEUE_POST_LIFO", group: Group::Eq },
    RecordInfo { id: 21, name: "QS_QF_EQUEUE_GET", group: Group::Eq },
    RecordInfo { id: 22, name: "QS_QF_EQUEUE_GET_LAST", group: Group::Eq },
    RecordInfo { id: 23, name: "QS_QF_NEW_ATTEMPT", group: Group::Qf },
    RecordInfo { id: 24, name: "QS_QF_MPOOL_GET", group: Group::Mp },
    RecordInfo { id: 25, name: "QS_QF_MPOOL_PUT", group: Group::Mp },
    RecordInfo { id: 26, name: "QS_QF_PUBLISH", group: Group::Qf },
    RecordInfo { id: 27, name: "QS_QF_NEW_REF", group: Group::Qf },
    RecordInfo { id: 28, name: "QS_QF_NEW", group: Group::Qf },
    RecordInfo { id: 29, name: "QS_QF_GC_ATTEMPT", group: Group::Qf },
    RecordInfo { id: 30, name: "QS_QF_GC", group: Group::Qf },
    RecordInfo { id: 31, name: "QS_QF_TICK", group: Group::Qf },
    RecordInfo { id: 32, name: "QS_QF_TIMEEVT_ARM", group: Group::Te },
    RecordInfo { id: 33, name: "QS_QF_TIMEEVT_AUTO_DISARM", group: Group::Te },
    RecordInfo { id: 34, name: "QS_QF_TIMEEVT_DISARM_ATTEMPT", group: Group::Te },
    RecordInfo { id: 35, name: "QS_QF_TIMEEVT_DISARM", group: Group::Te },
    RecordInfo { id: 36, name: "QS_QF_TIMEEVT_REARM", group: Group::Te },
    RecordInfo { id: 37, name: "QS_QF_TIMEEVT_POST", group: Group::Te },
    RecordInfo { id: 38, name: "QS_QF_DELETE_REF", group: Group::Qf },
    RecordInfo { id: 39, name: "QS_QF_CRIT_ENTRY", group: Group::Qf },
    RecordInfo { id: 40, name: "QS_QF_CRIT_EXIT", group: Group::Qf },
    RecordInfo { id: 41, name: "QS_QF_ISR_ENTRY", group: Group::Qf },
    RecordInfo { id: 42, name: "QS_QF_ISR_EXIT", group: Group::Qf },
    RecordInfo { id: 43, name: "QS_QF_INT_DISABLE", group: Group::Qf },
    RecordInfo { id: 44, name: "QS_QF_INT_ENABLE", group: Group::Qf },
    RecordInfo { id: 45, name: "QS_QF_ACTIVE_POST_ATTEMPT", group: Group::Ao },
    RecordInfo { id: 46, name: "QS_QF_EQUEUE_POST_ATTEMPT", group: Group::Eq },
    RecordInfo { id: 47, name: "QS_QF_MPOOL_GET_ATTEMPT", group: Group::Mp },
    RecordInfo { id: 48, name: "QS_SCHED_PREEMPT", group: Group::Sc },
    RecordInfo { id: 49, name: "QS_SCHED_RESTORE", group: Group::Sc },
    RecordInfo { id: 50, name: "QS_SCHED_LOCK", group: Group::Sc },
    RecordInfo { id: 51, name: "QS_SCHED_UNLOCK", group: Group::Sc },
    RecordInfo { id: 52, name: "QS_SCHED_NEXT", group: Group::Sc },
    RecordInfo { id: 53, name: "QS_SCHED_IDLE", group: Group::Sc },
    RecordInfo { id: 54, name: "QS_ENUM_DICT", group: Group::Dic },
    RecordInfo { id: 55, name: "QS_QEP_TRAN_HIST", group: Group::Sm },
    RecordInfo { id: 56, name: "QS_QEP_TRAN_EP", group: Group::Sm },
    RecordInfo { id: 57, name: "QS_QEP_TRAN_XP", group: Group::Sm },
    RecordInfo { id: 58, name: "QS_TEST_PAUSED", group: Group::Tst },
    RecordInfo { id: 59, name: "QS_TEST_PROBE_GET", group: Group::Tst },
    RecordInfo { id: 60, name: "QS_SIG_DICT", group: Group::Dic },
    RecordInfo { id: 61, name: "QS_OBJ_DICT", group: Group::Dic },
    RecordInfo { id: 62, name: "QS_FUN_DICT", group: Group::Dic },
    RecordInfo { id: 63, name: "QS_USR_DICT", group: Group::Dic },
    RecordInfo { id: 64, name: "QS_TARGET_INFO", group: Group::Inf },
    RecordInfo { id: 65, name: "QS_TARGET_DONE", group: Group::Tst },
    RecordInfo { id: 66, name: "QS_RX_STATUS", group: Group::Tst },
    RecordInfo { id: 67, name: "QS_QUERY_DATA", group: Group::Tst },
    RecordInfo { id: 68, name: "QS_PEEK_DATA", group: Group::Tst },
    RecordInfo { id: 69, name: "QS_ASSERT_FAIL", group: Group::Err },
    RecordInfo { id: 70, name: "QS_QF_RUN", group: Group::Inf },
    RecordInfo { id: 71, name: "QS_SEM_TAKE", group: Group::Sem },
    RecordInfo { id: 72, name: "QS_SEM_BLOCK", group: Group::Sem },
    RecordInfo { id: 73, name: "QS_SEM_SIGNAL", group: Group::Sem },
    RecordInfo { id: 74, name: "QS_SEM_BLOCK_ATTEMPT", group: Group::Sem },
    RecordInfo { id: 75, name: "QS_MTX_LOCK", group: Group::Mtx },
    RecordInfo { id: 76, name: "QS_MTX_BLOCK", group: Group::Mtx },
    RecordInfo { id: 77, name: "QS_MTX_UNLOCK", group: Group::Mtx },
    RecordInfo { id: 78, name: "QS_MTX_LOCK_ATTEMPT", group: Group::Mtx },
    RecordInfo { id: 79, name: "QS_MTX_BLOCK_ATTEMPT", group: Group::Mtx },
    RecordInfo { id: 80, name: "QS_MTX_UNLOCK_ATTEMPT", group: Group::Mtx },
];

/// The row of a predefined record; `None` for reserved and application ids.
pub fn info(id: u8) -> Option<&'static RecordInfo> {
    // The table has no holes below the reserved ids, so the id is the index.
    RECORDS.get(usize::from(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_index() {
        for (index, record) in RECORDS.iter().enumerate() {
            assert_eq!(usize::from(record.id), index, "{}", record.name);
        }
        assert_eq!(info(64).map(|record| record.name), Some("QS_TARGET_INFO"));
        assert_eq!(info(81), None);
    }
}
