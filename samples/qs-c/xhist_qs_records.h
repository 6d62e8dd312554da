/* Predefined records of QP for C; xhist_qs.h includes it. `object` is the number of the object for the local filter.
 * Made from the table in qs-core/src/record/table.rs: XHIST_BLESS=1 cargo test -p xhist-qs --test it c_records */
#ifndef XHIST_QS_RECORDS_H
#define XHIST_QS_RECORDS_H

static inline void xhist_qs_qep_state_entry(uint8_t object, const void *obj, const void *state) {
    if (xhist_qs_is_on(1, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(state)};
        xhist_qs_record(1, "OF", values);
    }
}

static inline void xhist_qs_qep_state_exit(uint8_t object, const void *obj, const void *state) {
    if (xhist_qs_is_on(2, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(state)};
        xhist_qs_record(2, "OF", values);
    }
}

static inline void xhist_qs_qep_state_init(uint8_t object, const void *obj, const void *source, const void *target) {
    if (xhist_qs_is_on(3, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(source), xhist_qs_address(target)};
        xhist_qs_record(3, "OFF", values);
    }
}

static inline void xhist_qs_qep_init_tran(uint8_t object, const void *obj, const void *target) {
    if (xhist_qs_is_on(4, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(target)};
        xhist_qs_record(4, "TOF", values);
    }
}

static inline void xhist_qs_qep_intern_tran(uint8_t object, uint32_t sig, const void *obj, const void *state) {
    if (xhist_qs_is_on(5, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), xhist_qs_address(state)};
        xhist_qs_record(5, "TSOF", values);
    }
}

static inline void xhist_qs_qep_tran(uint8_t object, uint32_t sig, const void *obj, const void *source, const void *target) {
    if (xhist_qs_is_on(6, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), xhist_qs_address(source), xhist_qs_address(target)};
        xhist_qs_record(6, "TSOFF", values);
    }
}

static inline void xhist_qs_qep_ignored(uint8_t object, uint32_t sig, const void *obj, const void *state) {
    if (xhist_qs_is_on(7, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), xhist_qs_address(state)};
        xhist_qs_record(7, "TSOF", values);
    }
}

static inline void xhist_qs_qep_dispatch(uint8_t object, uint32_t sig, const void *obj, const void *state) {
    if (xhist_qs_is_on(8, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), xhist_qs_address(state)};
        xhist_qs_record(8, "TSOF", values);
    }
}

static inline void xhist_qs_qep_unhandled(uint8_t object, uint32_t sig, const void *obj, const void *state) {
    if (xhist_qs_is_on(9, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), xhist_qs_address(state)};
        xhist_qs_record(9, "SOF", values);
    }
}

static inline void xhist_qs_qf_active_defer(uint8_t object, const void *obj, const void *queue, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(10, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(queue), sig, pool, refs};
        xhist_qs_record(10, "TOOS11", values);
    }
}

static inline void xhist_qs_qf_active_recall(uint8_t object, const void *obj, const void *queue, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(11, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(queue), sig, pool, refs};
        xhist_qs_record(11, "TOOS11", values);
    }
}

static inline void xhist_qs_qf_active_subscribe(uint8_t object, uint32_t sig, const void *obj) {
    if (xhist_qs_is_on(12, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj)};
        xhist_qs_record(12, "TSO", values);
    }
}

static inline void xhist_qs_qf_active_unsubscribe(uint8_t object, uint32_t sig, const void *obj) {
    if (xhist_qs_is_on(13, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj)};
        xhist_qs_record(13, "TSO", values);
    }
}

static inline void xhist_qs_qf_active_post(uint8_t object, const void *sender, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free, uint32_t min) {
    if (xhist_qs_is_on(14, object)) {
        const uint64_t values[] = {xhist_qs_address(sender), sig, xhist_qs_address(obj), pool, refs, free, min};
        xhist_qs_record(14, "TOSO11QQ", values);
    }
}

static inline void xhist_qs_qf_active_post_lifo(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free, uint32_t min) {
    if (xhist_qs_is_on(15, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs, free, min};
        xhist_qs_record(15, "TSO11QQ", values);
    }
}

static inline void xhist_qs_qf_active_get(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free) {
    if (xhist_qs_is_on(16, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs, free};
        xhist_qs_record(16, "TSO11Q", values);
    }
}

static inline void xhist_qs_qf_active_get_last(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(17, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs};
        xhist_qs_record(17, "TSO11", values);
    }
}

static inline void xhist_qs_qf_active_recall_attempt(uint8_t object, const void *obj, const void *queue) {
    if (xhist_qs_is_on(18, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(queue)};
        xhist_qs_record(18, "TOO", values);
    }
}

static inline void xhist_qs_qf_equeue_post(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free, uint32_t min) {
    if (xhist_qs_is_on(19, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs, free, min};
        xhist_qs_record(19, "TSO11QQ", values);
    }
}

static inline void xhist_qs_qf_equeue_post_lifo(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free, uint32_t min) {
    if (xhist_qs_is_on(20, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs, free, min};
        xhist_qs_record(20, "TSO11QQ", values);
    }
}

static inline void xhist_qs_qf_equeue_get(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free) {
    if (xhist_qs_is_on(21, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs, free};
        xhist_qs_record(21, "TSO11Q", values);
    }
}

static inline void xhist_qs_qf_equeue_get_last(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(22, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs};
        xhist_qs_record(22, "TSO11", values);
    }
}

static inline void xhist_qs_qf_new_attempt(uint8_t object, uint32_t size, uint32_t sig) {
    if (xhist_qs_is_on(23, object)) {
        const uint64_t values[] = {size, sig};
        xhist_qs_record(23, "TES", values);
    }
}

static inline void xhist_qs_qf_mpool_get(uint8_t object, const void *obj, uint32_t free, uint32_t min) {
    if (xhist_qs_is_on(24, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), free, min};
        xhist_qs_record(24, "TOPP", values);
    }
}

static inline void xhist_qs_qf_mpool_put(uint8_t object, const void *obj, uint32_t free) {
    if (xhist_qs_is_on(25, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), free};
        xhist_qs_record(25, "TOP", values);
    }
}

static inline void xhist_qs_qf_publish(uint8_t object, const void *sender, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(26, object)) {
        const uint64_t values[] = {xhist_qs_address(sender), sig, pool, refs};
        xhist_qs_record(26, "TOS11", values);
    }
}

static inline void xhist_qs_qf_new_ref(uint8_t object, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(27, object)) {
        const uint64_t values[] = {sig, pool, refs};
        xhist_qs_record(27, "TS11", values);
    }
}

static inline void xhist_qs_qf_new(uint8_t object, uint32_t size, uint32_t sig) {
    if (xhist_qs_is_on(28, object)) {
        const uint64_t values[] = {size, sig};
        xhist_qs_record(28, "TES", values);
    }
}

static inline void xhist_qs_qf_gc_attempt(uint8_t object, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(29, object)) {
        const uint64_t values[] = {sig, pool, refs};
        xhist_qs_record(29, "TS11", values);
    }
}

static inline void xhist_qs_qf_gc(uint8_t object, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(30, object)) {
        const uint64_t values[] = {sig, pool, refs};
        xhist_qs_record(30, "TS11", values);
    }
}

static inline void xhist_qs_qf_tick(uint8_t object, uint32_t ctr, uint8_t rate) {
    if (xhist_qs_is_on(31, object)) {
        const uint64_t values[] = {ctr, rate};
        xhist_qs_record(31, "C1", values);
    }
}

static inline void xhist_qs_qf_timeevt_arm(uint8_t object, const void *te, const void *ao, uint32_t ctr, uint32_t interval, uint8_t rate) {
    if (xhist_qs_is_on(32, object)) {
        const uint64_t values[] = {xhist_qs_address(te), xhist_qs_address(ao), ctr, interval, rate};
        xhist_qs_record(32, "TOOCC1", values);
    }
}

static inline void xhist_qs_qf_timeevt_auto_disarm(uint8_t object, const void *te, const void *ao, uint8_t rate) {
    if (xhist_qs_is_on(33, object)) {
        const uint64_t values[] = {xhist_qs_address(te), xhist_qs_address(ao), rate};
        xhist_qs_record(33, "OO1", values);
    }
}

static inline void xhist_qs_qf_timeevt_disarm_attempt(uint8_t object, const void *te, const void *ao, uint8_t rate) {
    if (xhist_qs_is_on(34, object)) {
        const uint64_t values[] = {xhist_qs_address(te), xhist_qs_address(ao), rate};
        xhist_qs_record(34, "TOO1", values);
    }
}

static inline void xhist_qs_qf_timeevt_disarm(uint8_t object, const void *te, const void *ao, uint32_t ctr, uint32_t interval, uint8_t rate) {
    if (xhist_qs_is_on(35, object)) {
        const uint64_t values[] = {xhist_qs_address(te), xhist_qs_address(ao), ctr, interval, rate};
        xhist_qs_record(35, "TOOCC1", values);
    }
}

static inline void xhist_qs_qf_timeevt_rearm(uint8_t object, const void *te, const void *ao, uint32_t ctr, uint32_t interval, uint8_t rate, uint8_t was_armed) {
    if (xhist_qs_is_on(36, object)) {
        const uint64_t values[] = {xhist_qs_address(te), xhist_qs_address(ao), ctr, interval, rate, was_armed};
        xhist_qs_record(36, "TOOCC11", values);
    }
}

static inline void xhist_qs_qf_timeevt_post(uint8_t object, const void *te, uint32_t sig, const void *ao, uint8_t rate) {
    if (xhist_qs_is_on(37, object)) {
        const uint64_t values[] = {xhist_qs_address(te), sig, xhist_qs_address(ao), rate};
        xhist_qs_record(37, "TOSO1", values);
    }
}

static inline void xhist_qs_qf_delete_ref(uint8_t object, uint32_t sig, uint8_t pool, uint8_t refs) {
    if (xhist_qs_is_on(38, object)) {
        const uint64_t values[] = {sig, pool, refs};
        xhist_qs_record(38, "TS11", values);
    }
}

static inline void xhist_qs_qf_crit_entry(uint8_t object, uint8_t nest) {
    if (xhist_qs_is_on(39, object)) {
        const uint64_t values[] = {nest};
        xhist_qs_record(39, "T1", values);
    }
}

static inline void xhist_qs_qf_crit_exit(uint8_t object, uint8_t nest) {
    if (xhist_qs_is_on(40, object)) {
        const uint64_t values[] = {nest};
        xhist_qs_record(40, "T1", values);
    }
}

static inline void xhist_qs_qf_isr_entry(uint8_t object, uint8_t nest, uint8_t prio) {
    if (xhist_qs_is_on(41, object)) {
        const uint64_t values[] = {nest, prio};
        xhist_qs_record(41, "T11", values);
    }
}

static inline void xhist_qs_qf_isr_exit(uint8_t object, uint8_t nest, uint8_t prio) {
    if (xhist_qs_is_on(42, object)) {
        const uint64_t values[] = {nest, prio};
        xhist_qs_record(42, "T11", values);
    }
}

static inline void xhist_qs_qf_active_post_attempt(uint8_t object, const void *sender, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free, uint32_t margin) {
    if (xhist_qs_is_on(45, object)) {
        const uint64_t values[] = {xhist_qs_address(sender), sig, xhist_qs_address(obj), pool, refs, free, margin};
        xhist_qs_record(45, "TOSO11QQ", values);
    }
}

static inline void xhist_qs_qf_equeue_post_attempt(uint8_t object, uint32_t sig, const void *obj, uint8_t pool, uint8_t refs, uint32_t free, uint32_t margin) {
    if (xhist_qs_is_on(46, object)) {
        const uint64_t values[] = {sig, xhist_qs_address(obj), pool, refs, free, margin};
        xhist_qs_record(46, "TSO11QQ", values);
    }
}

static inline void xhist_qs_qf_mpool_get_attempt(uint8_t object, const void *obj, uint32_t free, uint32_t margin) {
    if (xhist_qs_is_on(47, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), free, margin};
        xhist_qs_record(47, "TOPP", values);
    }
}

static inline void xhist_qs_sched_preempt(uint8_t object, uint8_t prio, uint8_t prev) {
    if (xhist_qs_is_on(48, object)) {
        const uint64_t values[] = {prio, prev};
        xhist_qs_record(48, "T11", values);
    }
}

static inline void xhist_qs_sched_restore(uint8_t object, uint8_t prio, uint8_t prev) {
    if (xhist_qs_is_on(49, object)) {
        const uint64_t values[] = {prio, prev};
        xhist_qs_record(49, "T11", values);
    }
}

static inline void xhist_qs_sched_lock(uint8_t object, uint8_t prev, uint8_t ceiling) {
    if (xhist_qs_is_on(50, object)) {
        const uint64_t values[] = {prev, ceiling};
        xhist_qs_record(50, "T11", values);
    }
}

static inline void xhist_qs_sched_unlock(uint8_t object, uint8_t prev, uint8_t ceiling) {
    if (xhist_qs_is_on(51, object)) {
        const uint64_t values[] = {prev, ceiling};
        xhist_qs_record(51, "T11", values);
    }
}

static inline void xhist_qs_sched_next(uint8_t object, uint8_t prio, uint8_t prev) {
    if (xhist_qs_is_on(52, object)) {
        const uint64_t values[] = {prio, prev};
        xhist_qs_record(52, "T11", values);
    }
}

static inline void xhist_qs_sched_idle(uint8_t object, uint8_t prev) {
    if (xhist_qs_is_on(53, object)) {
        const uint64_t values[] = {prev};
        xhist_qs_record(53, "T1", values);
    }
}

static inline void xhist_qs_qep_tran_hist(uint8_t object, const void *obj, const void *source, const void *target) {
    if (xhist_qs_is_on(55, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(source), xhist_qs_address(target)};
        xhist_qs_record(55, "OFF", values);
    }
}

static inline void xhist_qs_qep_tran_ep(uint8_t object, const void *obj, const void *source, const void *target) {
    if (xhist_qs_is_on(56, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(source), xhist_qs_address(target)};
        xhist_qs_record(56, "OFF", values);
    }
}

static inline void xhist_qs_qep_tran_xp(uint8_t object, const void *obj, const void *source, const void *target) {
    if (xhist_qs_is_on(57, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), xhist_qs_address(source), xhist_qs_address(target)};
        xhist_qs_record(57, "OFF", values);
    }
}

static inline void xhist_qs_qf_run(uint8_t object) {
    if (xhist_qs_is_on(70, object)) {
        xhist_qs_record(70, "", NULL);
    }
}

static inline void xhist_qs_sem_take(uint8_t object, const void *obj, uint8_t thread, uint8_t count) {
    if (xhist_qs_is_on(71, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), thread, count};
        xhist_qs_record(71, "TO11", values);
    }
}

static inline void xhist_qs_sem_block(uint8_t object, const void *obj, uint8_t thread, uint8_t count) {
    if (xhist_qs_is_on(72, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), thread, count};
        xhist_qs_record(72, "TO11", values);
    }
}

static inline void xhist_qs_sem_signal(uint8_t object, const void *obj, uint8_t thread, uint8_t count) {
    if (xhist_qs_is_on(73, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), thread, count};
        xhist_qs_record(73, "TO11", values);
    }
}

static inline void xhist_qs_sem_block_attempt(uint8_t object, const void *obj, uint8_t thread, uint8_t count) {
    if (xhist_qs_is_on(74, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), thread, count};
        xhist_qs_record(74, "TO11", values);
    }
}

static inline void xhist_qs_mtx_lock(uint8_t object, const void *obj, uint8_t holder, uint8_t nest) {
    if (xhist_qs_is_on(75, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), holder, nest};
        xhist_qs_record(75, "TO11", values);
    }
}

static inline void xhist_qs_mtx_block(uint8_t object, const void *obj, uint8_t holder, uint8_t thread) {
    if (xhist_qs_is_on(76, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), holder, thread};
        xhist_qs_record(76, "TO11", values);
    }
}

static inline void xhist_qs_mtx_unlock(uint8_t object, const void *obj, uint8_t holder, uint8_t nest) {
    if (xhist_qs_is_on(77, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), holder, nest};
        xhist_qs_record(77, "TO11", values);
    }
}

static inline void xhist_qs_mtx_lock_attempt(uint8_t object, const void *obj, uint8_t holder, uint8_t nest) {
    if (xhist_qs_is_on(78, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), holder, nest};
        xhist_qs_record(78, "TO11", values);
    }
}

static inline void xhist_qs_mtx_block_attempt(uint8_t object, const void *obj, uint8_t holder, uint8_t thread) {
    if (xhist_qs_is_on(79, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), holder, thread};
        xhist_qs_record(79, "TO11", values);
    }
}

static inline void xhist_qs_mtx_unlock_attempt(uint8_t object, const void *obj, uint8_t holder, uint8_t nest) {
    if (xhist_qs_is_on(80, object)) {
        const uint64_t values[] = {xhist_qs_address(obj), holder, nest};
        xhist_qs_record(80, "TO11", values);
    }
}

#endif
