//! Sends records to the ring, and starts and ends a session.

use qs_core::filter::LAST_RECORD;
#[cfg(feature = "trace")]
use qs_core::frame::MAX_PAYLOAD;
use qs_core::record::{
    AssertFail, BuildTime, Empty, EventKind, RECORD_BASE, Record, TargetInfo, USER_BASE, element, ids,
};

use super::config::{BUILD, SIZES};
use super::draft::Draft;
#[cfg(feature = "trace")]
use super::draft::put_what_fits;
use super::filter::is_on;
#[cfg(feature = "trace")]
use crate::record_size::{LONG, MEDIUM, SHORT, TINY};
use crate::recorder;
use crate::shared::Shared;

/// The version of QP that has these records.
const VERSION: u16 = 734;

/// Data about a target for its host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Info {
    /// Maximum number of active objects.
    pub max_active: u8,
    /// Maximum number of event pools.
    pub max_pools: u8,
    /// Maximum number of tick rates.
    pub max_rates: u8,
    /// Build time of the program. A host discards its dictionaries when it changes. Default: `XHIST_QS_BUILD` of the compiler.
    pub build: BuildTime,
    /// Sends the program's dictionaries. It is called at start and at each request for the target info.
    pub dictionaries: Option<fn()>,
    /// The clock of time stamps, which may wrap. It is called where records are appended, also in interrupts. Default: the
    /// system's clock in hosted programs, no clock on bare metal.
    pub time: Option<fn() -> u32>,
}

static INFO: Shared<Option<Info>> = Shared::new(None);

/// Starts a session: sends an empty record, target info and dictionaries. Earlier records are allowed.
pub fn start(info: Info) {
    INFO.with(|known| *known = Some(info));
    if let Some(time) = info.time {
        recorder::set_time(time);
    }
    send(&Empty {});
    send_info(TargetInfo::RESET);
}

/// Sends target info and dictionaries.
pub(super) fn send_info(reset: u8) {
    let info = INFO.with(|info| *info).flatten().unwrap_or_default();
    send(&TargetInfo {
        reset,
        version: VERSION,
        big_endian: cfg!(target_endian = "big"),
        sizes: SIZES,
        max_active: info.max_active,
        max_pools: info.max_pools,
        max_rates: info.max_rates,
        build: if info.build == BuildTime::default() { BUILD } else { info.build },
    });
    if let Some(dictionaries) = info.dictionaries {
        dictionaries();
    }
}

/// Sends a predefined record about an object, if both filters let it pass. Numbers of objects in the local filter: the
/// priority of an active object or thread, 64 plus the number of an event pool, 80 to 95 for raw queues, 96 to 126 for
/// objects of the application, 0 for no object. As in QP, a number has seven bits: 128 counts as 0, 129 as 1.
///
/// ```
/// use xhist_rt::qs::{self, Fun, Obj, QepDispatch, Sig};
/// fn eating() {}
/// let philosopher = [0u8; 4];
/// let state = Fun::of(eating as *const ());
/// qs::record(3, &QepDispatch { sig: Sig(5), obj: Obj::of(&philosopher), state });
/// ```
#[inline(always)]
pub fn record<R: Record>(object: u8, record: &R) {
    if is_on(R::ID, object) {
        send(record);
    }
}

/// Sends a record. Filters do not apply.
#[inline(always)]
pub fn send<R: Record>(record: &R) {
    if R::TIMED {
        append::<true>(R::ID, |to| record.put(to));
    } else {
        append::<false>(R::ID, |to| record.put(to));
    }
}

/// Sends a record whose id is known at run time only, as in calls from C; `put` writes its fields. Filters do not apply.
#[inline(always)]
pub fn put(id: u8, is_timed: bool, put: impl Fn(&mut Draft<'_>)) {
    match is_timed {
        true => append::<true>(id, put),
        false => append::<false>(id, put),
    }
}

/// Sends an application record, whose elements `put` writes. Filters do not apply. See [`qs_record!`](crate::qs_record).
#[inline(always)]
pub fn user(id: u8, put: impl Fn(&mut Draft<'_>)) {
    append::<true>(id, put);
}

/// Checks the id of an application record, and returns it.
///
/// # Panics
/// If `id` is neither 100 to 117 nor 124. In [`qs_record!`](crate::qs_record) this fails at compile time.
pub const fn user_id(id: u8) -> u8 {
    let is_free = id >= USER_BASE && id < crate::trace::EXCEPTION || id == LAST_RECORD;
    assert!(
        is_free,
        "application records have ids from 100 to 117, or 124; the ids between are trace events and statements"
    );
    id
}

/// Sends the record of a failed assertion, and flushes the ring. The last call before a reset.
pub fn assertion(module: &str, location: u16) {
    send(&AssertFail { loc: location, module });
    recorder::flush();
}

/// Sends the exit code of the program, and flushes the ring.
pub fn exit(code: i32) {
    user(RECORD_BASE + ids::EVENT, |to| {
        element::u8(to, 0, EventKind::Exit.code());
        element::u64(to, 0, i64::from(code) as u64);
    });
    recorder::flush();
}

#[cfg(not(feature = "trace"))]
#[inline(always)]
fn append<const TIMED: bool>(_id: u8, _put: impl Fn(&mut Draft<'_>)) {}

#[cfg(feature = "trace")]
#[inline(always)]
fn append<const TIMED: bool>(id: u8, put: impl Fn(&mut Draft<'_>)) {
    // Two more bytes follow a record: checksum and flag.
    let mut bytes = [0; MEDIUM];
    let mut draft = Draft::new(&mut bytes[..MEDIUM - 2], id, TIMED);
    put(&mut draft);
    // Another function would make firmware larger.
    let has_tiny = cfg!(feature = "std");
    match (draft.len(), bytes.first_chunk::<TINY>(), bytes.first_chunk::<SHORT>()) {
        (Some(len), Some(bytes), _) if has_tiny && len <= TINY - 2 => {
            recorder::append_record::<TINY, TIMED>(bytes, len)
        }
        (Some(len), _, Some(bytes)) if len <= SHORT - 2 => {
            recorder::append_record::<SHORT, TIMED>(bytes, len)
        }
        (Some(len), ..) => recorder::append_record::<MEDIUM, TIMED>(&bytes, len),
        _ => append_long(id, TIMED, &put),
    }
}

#[cfg(all(feature = "memory", not(feature = "trace")))]
pub(super) fn room() -> usize {
    0
}

/// Length of the longest record in bytes, from sequence number to payload. It must not fill a small ring.
#[cfg(feature = "trace")]
#[inline(always)]
pub(super) fn room() -> usize {
    recorder::longest_record().clamp(MEDIUM, MAX_PAYLOAD + 4) - 2
}

#[cfg(feature = "trace")]
#[cold]
#[inline(never)]
fn append_long(id: u8, timed: bool, put: &dyn Fn(&mut Draft<'_>)) {
    let mut bytes = [0; LONG];
    let len = put_what_fits(&mut bytes[..room()], id, timed, put);
    match timed {
        true => recorder::append_record::<LONG, true>(&bytes, len),
        false => recorder::append_record::<LONG, false>(&bytes, len),
    }
}
