//! The table of predefined records (QS 7.x): id, name, group, fields and text. A new record is a new row.
//!
//! The typed calls of the target, the decoder of the host, the filters and the page of records are generated from it.

use super::emit::{Record, emit};
use super::field::{Fields, Fun, Kind, Obj, Payload, Sig, Sizes, value};

/// Id of the first application record (QS 6.6 and later).
pub const USER_BASE: u8 = 100;

/// Subject of a record. Filters switch whole groups.
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

/// Contents of a record, and how a host shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether the record starts with a time stamp, which is not in `fields`.
    pub timed: bool,
    /// The fields, in order.
    pub fields: &'static [Field],
    /// The text behind the time stamp. `{name}` is a field, `{name:how}` a field in another display format, `{sig@obj}` a
    /// signal with its name for the object `obj`, and `{evt@obj}` an event: the fields `sig`, `pool` and `refs`.
    pub text: &'static str,
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// Kind, which determines the width.
    pub kind: Kind,
}

/// A row of [`RECORDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordInfo {
    /// Record id.
    pub id: u8,
    /// Name in QS.
    pub name: &'static str,
    /// Group of the record.
    pub group: Group,
    /// Contents. `None` if they depend on the data, or if no target sends the record.
    pub layout: Option<Layout>,
}

/// A placeholder `{…}` of a pattern, and the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Literal text.
    pub literal: &'a str,
    /// Name of a field, or `evt`. Empty at the end of the pattern.
    pub field: &'a str,
    /// Display format, behind `:`.
    pub how: &'a str,
    /// Name of the field with the object, behind `@`.
    pub object: &'a str,
}

/// The pieces of a [`Layout::text`].
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    text.split_inclusive('}').map(|piece| {
        let Some((literal, name)) = piece.strip_suffix('}').and_then(|piece| piece.split_once('{')) else {
            return Piece { literal: piece, field: "", how: "", object: "" };
        };
        let (name, object) = name.split_once('@').unwrap_or((name, ""));
        let (field, how) = name.split_once(':').unwrap_or((name, ""));
        Piece { literal, field, how, object }
    })
}

macro_rules! records {
    ($($id:literal $qs:ident $group:ident $(
        $(#[$doc:meta])* $name:ident$(<$life:lifetime>)?
        [$($timed:ident)?] { $($(#[$about:meta])* $field:ident: $kind:ident),* } $text:literal
    )?;)*) => {
        /// Every predefined record, by id.
        pub static RECORDS: &[RecordInfo] = &[$(RecordInfo {
            id: $id,
            name: stringify!($qs),
            group: Group::$group,
            layout: records!(@layout $({
                timed: records!(@timed $($timed)?),
                fields: &[$(Field { name: stringify!($field), kind: Kind::$kind }),*],
                text: $text,
            })?),
        }),*];

        $($(
            $(#[$doc])*
            #[doc = concat!("\n\nRecord ", $id, ", `", stringify!($qs), "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[allow(missing_docs, reason = "the fields are named as QS names them")]
            pub struct $name$(<$life>)? {
                $($(#[$about])* pub $field: records!(@type $kind),)*
            }

            impl$(<$life>)? Record for $name$(<$life>)? {
                const ID: u8 = $id;
                const TIMED: bool = records!(@timed $($timed)?);

                #[inline(always)]
                fn put(&self, _to: &mut impl Fields) {
                    $(value(_to, Kind::$kind, self.$field);)*
                }
            }
        )?)*

        /// One type for each record of the table whose layout is fixed.
        pub mod predefined {
            $($(pub use super::$name;)?)*
        }

        /// A record of the table that was read from its payload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the variants have the names of the records")]
        pub enum Predefined<'a> {
            $($($name($name$(<$life>)?),)?)*
        }

        impl<'a> Predefined<'a> {
            /// Reads the payload of a record: its time stamp and the record. `None` if the length is wrong, if a text is not
            /// UTF-8, or if the layout depends on the data.
            #[inline]
            pub fn parse(id: u8, payload: &'a [u8], sizes: &Sizes) -> Option<(Option<u32>, Predefined<'a>)> {
                let mut from = Payload { rest: payload, sizes };
                let (time, record) = match id {
                    $($($id => {
                        let time = if $name::TIMED { Some(from.time()?) } else { None };
                        (time, Predefined::$name($name { $($field: from.value(Kind::$kind)?),* }))
                    })?)*
                    _ => return None,
                };
                from.rest.is_empty().then_some((time, record))
            }

            /// Writes the frame of the record into `sink`.
            pub fn emit(&self, seq: u8, time: u32, sizes: Sizes, sink: impl FnMut(u8)) {
                match self {
                    $($(Predefined::$name(record) => emit(record, seq, time, sizes, sink),)?)*
                }
            }
        }
    };
    (@layout) => { None };
    (@layout { $($layout:tt)* }) => { Some(Layout { $($layout)* }) };
    (@timed) => { false };
    (@timed timed) => { true };
    (@type Obj) => { Obj };
    (@type Fun) => { Fun };
    (@type Sig) => { Sig };
    (@type U8) => { u8 };
    (@type U16) => { u16 };
    (@type Str) => { &'a str };
    (@type $kind:ident) => { u32 };
}

records! {
    0 QS_EMPTY Inf
        /// Nothing: the first frame of a session.
        Empty [] {} "";
    1 QS_QEP_STATE_ENTRY Sm
        /// A state was entered.
        QepStateEntry [] { obj: Obj, state: Fun } "St-Entry Obj={obj},State={state}";
    2 QS_QEP_STATE_EXIT Sm
        /// A state was left.
        QepStateExit [] { obj: Obj, state: Fun } "St-Exit  Obj={obj},State={state}";
    3 QS_QEP_STATE_INIT Sm
        /// The initial transition nested in a state.
        QepStateInit [] { obj: Obj, source: Fun, target: Fun } "St-Init  Obj={obj},State={source}->{target}";
    4 QS_QEP_INIT_TRAN Sm
        /// The topmost initial transition.
        QepInitTran [timed] { obj: Obj, target: Fun } "Init===> Obj={obj},State={target}";
    5 QS_QEP_INTERN_TRAN Sm
        /// An internal transition.
        QepInternTran [timed] { sig: Sig, obj: Obj, state: Fun } "=>Intern Obj={obj},Sig={sig@obj},State={state}";
    6 QS_QEP_TRAN Sm
        /// A regular transition.
        QepTran [timed] { sig: Sig, obj: Obj, source: Fun, target: Fun }
        "===>Tran Obj={obj},Sig={sig@obj},State={source}->{target}";
    7 QS_QEP_IGNORED Sm
        /// No state handled the event.
        QepIgnored [timed] { sig: Sig, obj: Obj, state: Fun } "=>Ignore Obj={obj},Sig={sig@obj},State={state}";
    8 QS_QEP_DISPATCH Sm
        /// An event is dispatched.
        QepDispatch [timed] { sig: Sig, obj: Obj, state: Fun } "Disp===> Obj={obj},Sig={sig@obj},State={state}";
    9 QS_QEP_UNHANDLED Sm
        /// A guard left the event unhandled.
        QepUnhandled [] { sig: Sig, obj: Obj, state: Fun } "St-Unhnd Obj={obj},Sig={sig@obj},State={state}";
    10 QS_QF_ACTIVE_DEFER Ao
        /// An active object deferred an event.
        QfActiveDefer [timed] { obj: Obj, queue: Obj, sig: Sig, pool: U8, refs: U8 }
        "AO-Defer Obj={obj},Que={queue},{evt@obj}";
    11 QS_QF_ACTIVE_RECALL Ao
        /// An active object recalled an event.
        QfActiveRecall [timed] { obj: Obj, queue: Obj, sig: Sig, pool: U8, refs: U8 }
        "AO-RCall Obj={obj},Que={queue},{evt@obj}";
    12 QS_QF_ACTIVE_SUBSCRIBE Ao
        /// An active object subscribed to a signal.
        QfActiveSubscribe [timed] { sig: Sig, obj: Obj } "AO-Subsc Obj={obj},Sig={sig@obj}";
    13 QS_QF_ACTIVE_UNSUBSCRIBE Ao
        /// An active object cancelled a subscription.
        QfActiveUnsubscribe [timed] { sig: Sig, obj: Obj } "AO-Unsub Obj={obj},Sig={sig@obj}";
    14 QS_QF_ACTIVE_POST Ao
        /// An event was posted to an active object, first in, first out.
        QfActivePost [timed] {
            sender: Obj, sig: Sig, obj: Obj, pool: U8, refs: U8,
            /// Free entries in the queue.
            free: QueueCtr,
            /// Fewest entries that were ever free.
            min: QueueCtr
        }
        "AO-Post  Sdr={sender},Obj={obj},{evt@obj},Que<Free={free},Min={min}>";
    15 QS_QF_ACTIVE_POST_LIFO Ao
        /// An event was posted to an active object, last in, first out.
        QfActivePostLifo [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr, min: QueueCtr }
        "AO-LIFO  Obj={obj},{evt@obj},Que<Free={free},Min={min}>";
    16 QS_QF_ACTIVE_GET Ao
        /// An active object took an event, and its queue still holds others.
        QfActiveGet [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr }
        "AO-Get   Obj={obj},{evt@obj},Que<Free={free}>";
    17 QS_QF_ACTIVE_GET_LAST Ao
        /// An active object took the last event of its queue.
        QfActiveGetLast [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8 } "AO-GetL  Obj={obj},{evt@obj}";
    18 QS_QF_ACTIVE_RECALL_ATTEMPT Ao
        /// An active object found no event to recall.
        QfActiveRecallAttempt [timed] { obj: Obj, queue: Obj } "AO-RCllA Obj={obj},Que={queue}";
    19 QS_QF_EQUEUE_POST Eq
        /// An event was posted to a raw queue, first in, first out.
        QfEqueuePost [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr, min: QueueCtr }
        "EQ-Post  Obj={obj},{evt@obj},Que<Free={free},Min={min}>";
    20 QS_QF_EQUEUE_POST_LIFO Eq
        /// An event was posted to a raw queue, last in, first out.
        QfEqueuePostLifo [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr, min: QueueCtr }
        "EQ-LIFO Obj={obj},{evt@obj},Que<Free={free},Min={min}>";
    21 QS_QF_EQUEUE_GET Eq
        /// An event was taken from a raw queue that still holds others.
        QfEqueueGet [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr }
        "EQ-Get   Obj={obj},{evt@obj},Que<Free={free}>";
    22 QS_QF_EQUEUE_GET_LAST Eq
        /// The last event of a raw queue was taken.
        QfEqueueGetLast [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8 } "EQ-GetL  Obj={obj},{evt@obj}";
    23 QS_QF_NEW_ATTEMPT Qf
        /// No memory was left for an event.
        QfNewAttempt [timed] { size: EvtSize, sig: Sig } "QF-NewA  Sig={sig},Size={size}";
    24 QS_QF_MPOOL_GET Mp
        /// A block was taken from a memory pool.
        QfMpoolGet [timed] { obj: Obj, free: PoolCtr, min: PoolCtr } "MP-Get   Obj={obj},Free={free},Min={min}";
    25 QS_QF_MPOOL_PUT Mp
        /// A block went back to a memory pool.
        QfMpoolPut [timed] { obj: Obj, free: PoolCtr } "MP-Put   Obj={obj},Free={free}";
    26 QS_QF_PUBLISH Qf
        /// An event was published.
        QfPublish [timed] { sender: Obj, sig: Sig, pool: U8, refs: U8 } "QF-Pub   Sdr={sender},{evt}";
    27 QS_QF_NEW_REF Qf
        /// A reference to an event was kept.
        QfNewRef [timed] { sig: Sig, pool: U8, refs: U8 } "QF-NewRf {evt}";
    28 QS_QF_NEW Qf
        /// An event was allocated.
        QfNew [timed] { size: EvtSize, sig: Sig } "QF-New   Sig={sig},Size={size}";
    29 QS_QF_GC_ATTEMPT Qf
        /// An event is still referred to.
        QfGcAttempt [timed] { sig: Sig, pool: U8, refs: U8 } "QF-gcA   {evt}";
    30 QS_QF_GC Qf
        /// An event was recycled.
        QfGc [timed] { sig: Sig, pool: U8, refs: U8 } "QF-gc    {evt}";
    31 QS_QF_TICK Qf
        /// A clock tick.
        QfTick [] { ctr: TimeCtr, rate: U8 } "Tick<{rate}>  Ctr={ctr:010}";
    32 QS_QF_TIMEEVT_ARM Te
        /// A time event was armed.
        QfTimeevtArm [timed] { te: Obj, ao: Obj, ctr: TimeCtr, interval: TimeCtr, rate: U8 }
        "TE{rate}-Arm  Obj={te},AO={ao},Tim={ctr},Int={interval}";
    33 QS_QF_TIMEEVT_AUTO_DISARM Te
        /// A one-shot time event went off.
        QfTimeevtAutoDisarm [] { te: Obj, ao: Obj, rate: U8 } "TE{rate}-ADis Obj={te},AO={ao}";
    34 QS_QF_TIMEEVT_DISARM_ATTEMPT Te
        /// An attempt to disarm a time event that is not armed.
        QfTimeevtDisarmAttempt [timed] { te: Obj, ao: Obj, rate: U8 } "TE{rate}-DisA Obj={te},AO={ao}";
    35 QS_QF_TIMEEVT_DISARM Te
        /// A time event was disarmed.
        QfTimeevtDisarm [timed] { te: Obj, ao: Obj, ctr: TimeCtr, interval: TimeCtr, rate: U8 }
        "TE{rate}-Dis  Obj={te},AO={ao},Tim={ctr},Int={interval}";
    36 QS_QF_TIMEEVT_REARM Te
        /// A time event was armed again. QSPY shows the last two fields in swapped order.
        QfTimeevtRearm [timed] { te: Obj, ao: Obj, ctr: TimeCtr, interval: TimeCtr, rate: U8, was_armed: U8 }
        "TE{was_armed}-Rarm Obj={te},AO={ao},Tim={ctr},Int={interval},Was={rate}";
    37 QS_QF_TIMEEVT_POST Te
        /// A time event posted itself.
        QfTimeevtPost [timed] { te: Obj, sig: Sig, ao: Obj, rate: U8 } "TE{rate}-Post Obj={te},Sig={sig@ao},AO={ao}";
    38 QS_QF_DELETE_REF Qf
        /// A reference to an event was given up.
        QfDeleteRef [timed] { sig: Sig, pool: U8, refs: U8 } "QF-DelRf {evt}";
    39 QS_QF_CRIT_ENTRY Qf
        /// A critical section was entered.
        QfCritEntry [timed] { nest: U8 } "QF-CritE Nest={nest}";
    40 QS_QF_CRIT_EXIT Qf
        /// A critical section was left.
        QfCritExit [timed] { nest: U8 } "QF-CritX Nest={nest}";
    41 QS_QF_ISR_ENTRY Qf
        /// An interrupt began.
        QfIsrEntry [timed] { nest: U8, prio: U8 } "QF-IsrE  Nest={nest},Pri={prio}";
    42 QS_QF_ISR_EXIT Qf
        /// An interrupt ended.
        QfIsrExit [timed] { nest: U8, prio: U8 } "QF-IsrX  Nest={nest},Pri={prio}";
    43 QS_QF_INT_DISABLE Qf;
    44 QS_QF_INT_ENABLE Qf;
    45 QS_QF_ACTIVE_POST_ATTEMPT Ao
        /// An event found no room in the queue of an active object.
        QfActivePostAttempt [timed] {
            sender: Obj, sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr,
            /// Number of entries that must stay free.
            margin: QueueCtr
        }
        "AO-PostA Sdr={sender},Obj={obj},{evt@obj},Que<Free={free},Mar={margin}>";
    46 QS_QF_EQUEUE_POST_ATTEMPT Eq
        /// An event found no room in a raw queue.
        QfEqueuePostAttempt [timed] { sig: Sig, obj: Obj, pool: U8, refs: U8, free: QueueCtr, margin: QueueCtr }
        "EQ-PostA Obj={obj},{evt@obj},Que<Free={free},Mar={margin}>";
    47 QS_QF_MPOOL_GET_ATTEMPT Mp
        /// A memory pool had no block to spare.
        QfMpoolGetAttempt [timed] { obj: Obj, free: PoolCtr, margin: PoolCtr }
        "MP-GetA  Obj={obj},Free={free},Mar={margin}";
    48 QS_SCHED_PREEMPT Sc
        /// A thread preempted another.
        SchedPreempt [timed] { prio: U8, prev: U8 } "Sch-Pre  Pri={prev}->{prio}";
    49 QS_SCHED_RESTORE Sc
        /// A preempted thread goes on.
        SchedRestore [timed] { prio: U8, prev: U8 } "Sch-Rest Pri={prev}->{prio}";
    50 QS_SCHED_LOCK Sc
        /// The scheduler was locked up to a priority.
        SchedLock [timed] { prev: U8, ceiling: U8 } "Sch-Lock Ceil={prev}->{ceiling}";
    51 QS_SCHED_UNLOCK Sc
        /// The scheduler was unlocked.
        SchedUnlock [timed] { prev: U8, ceiling: U8 } "Sch-Unlk Ceil={prev}->{ceiling}";
    52 QS_SCHED_NEXT Sc
        /// The scheduler chose the next thread.
        SchedNext [timed] { prio: U8, prev: U8 } "Sch-Next Pri={prev}->{prio}";
    53 QS_SCHED_IDLE Sc
        /// The scheduler found nothing to do.
        SchedIdle [timed] { prev: U8 } "Sch-Idle Pri={prev}->0";
    54 QS_ENUM_DICT Dic
        /// The name of a value of an enumeration.
        EnumDict<'a> [] { value: U8, group: U8, name: Str } "Enum-Dic {value:03},Grp={group:&7}->{name}";
    55 QS_QEP_TRAN_HIST Sm
        /// A transition to history.
        QepTranHist [] { obj: Obj, source: Fun, target: Fun } "St-Hist  Obj={obj},State={source}->{target}";
    56 QS_QEP_TRAN_EP Sm
        /// A transition to an entry point of a submachine.
        QepTranEp [] { obj: Obj, source: Fun, target: Fun } "St-EP    Obj={obj},State={source}->{target}";
    57 QS_QEP_TRAN_XP Sm
        /// A transition to an exit point of a submachine.
        QepTranXp [] { obj: Obj, source: Fun, target: Fun } "St-XP    Obj={obj},State={source}->{target}";
    58 QS_TEST_PAUSED Tst
        /// The test fixture waits.
        TestPaused [] {} "TstPause";
    59 QS_TEST_PROBE_GET Tst
        /// A test probe was used.
        TestProbeGet [timed] { fun: Fun, data: U32 } "TstProbe Fun={fun},Data={data:i}";
    60 QS_SIG_DICT Dic
        /// The name of a signal; of one object, unless that is 0.
        SigDict<'a> [] { sig: Sig, obj: Obj, name: Str } "Sig-Dict {sig:08i},Obj={obj:x}->{name}";
    61 QS_OBJ_DICT Dic
        /// The name of an object.
        ObjDict<'a> [] { obj: Obj, name: Str } "Obj-Dict {obj:x}->{name}";
    62 QS_FUN_DICT Dic
        /// The name of a function.
        FunDict<'a> [] { fun: Fun, name: Str } "Fun-Dict {fun:x}->{name}";
    63 QS_USR_DICT Dic
        /// The name of an application record.
        UsrDict<'a> [] { id: U8, name: Str } "Usr-Dict {id:08}->{name}";
    64 QS_TARGET_INFO Inf;
    65 QS_TARGET_DONE Tst
        /// A command was executed.
        TargetDone [timed] { command: U8 } "Trg-Done {command:rx}";
    66 QS_RX_STATUS Tst
        /// A command was received, or was in error.
        RxStatus [] { status: U8 } "{status:ack}";
    67 QS_QUERY_DATA Tst;
    68 QS_PEEK_DATA Tst;
    69 QS_ASSERT_FAIL Err
        /// An assertion failed.
        AssertFail<'a> [timed] { loc: U16, module: Str } "=ASSERT= Mod={module},Loc={loc}";
    70 QS_QF_RUN Inf
        /// The framework runs.
        QfRun [] {} "QF_RUN";
    71 QS_SEM_TAKE Sem
        /// A semaphore was taken.
        SemTake [timed] { obj: Obj, thread: U8, count: U8 } "Sem-Take {obj},Thr={thread},Cnt={count}";
    72 QS_SEM_BLOCK Sem
        /// A thread waits for a semaphore.
        SemBlock [timed] { obj: Obj, thread: U8, count: U8 } "Sem-Blk  {obj},Thr={thread},Cnt={count}";
    73 QS_SEM_SIGNAL Sem
        /// A semaphore was signalled.
        SemSignal [timed] { obj: Obj, thread: U8, count: U8 } "Sem-Sgnl {obj},Thr={thread},Cnt={count}";
    74 QS_SEM_BLOCK_ATTEMPT Sem
        /// A semaphore could not be taken at once.
        SemBlockAttempt [timed] { obj: Obj, thread: U8, count: U8 } "Sem-BlkA {obj},Thr={thread},Cnt={count}";
    75 QS_MTX_LOCK Mtx
        /// A mutex was locked.
        MtxLock [timed] { obj: Obj, holder: U8, nest: U8 } "Mtx-Lock {obj},Hldr={holder},Nest={nest}";
    76 QS_MTX_BLOCK Mtx
        /// A thread waits for a mutex.
        MtxBlock [timed] { obj: Obj, holder: U8, thread: U8 } "Mtx-Blk  {obj},Hldr={holder},Thr={thread}";
    77 QS_MTX_UNLOCK Mtx
        /// A mutex was unlocked.
        MtxUnlock [timed] { obj: Obj, holder: U8, nest: U8 } "Mtx-Unlk {obj},Hldr={holder},Nest={nest}";
    78 QS_MTX_LOCK_ATTEMPT Mtx
        /// A mutex could not be locked at once.
        MtxLockAttempt [timed] { obj: Obj, holder: U8, nest: U8 } "Mtx-LckA {obj},Hldr={holder},Nest={nest}";
    79 QS_MTX_BLOCK_ATTEMPT Mtx
        /// A thread would have to wait for a mutex.
        MtxBlockAttempt [timed] { obj: Obj, holder: U8, thread: U8 } "Mtx-BlkA {obj},Hldr={holder},Thr={thread}";
    80 QS_MTX_UNLOCK_ATTEMPT Mtx
        /// A mutex stays locked by an outer level.
        MtxUnlockAttempt [timed] { obj: Obj, holder: U8, nest: U8 } "Mtx-UlkA {obj},Hldr={holder},Nest={nest}";
}

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
        assert_eq!(info(RECORDS.len() as u8), None);
    }

    #[test]
    fn a_text_names_fields_that_are_there() {
        for record in RECORDS {
            let Some(layout) = record.layout else { continue };
            let has = |name: &str| layout.fields.iter().any(|field| field.name == name);
            for piece in pieces(layout.text) {
                let fields = if piece.field == "evt" { &["sig", "pool", "refs"][..] } else { &[piece.field] };
                assert!(piece.field.is_empty() || fields.iter().all(|name| has(name)), "{}", record.name);
                assert!(piece.object.is_empty() || has(piece.object), "{}", record.name);
            }
        }
    }
}
