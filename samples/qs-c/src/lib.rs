//! The functions of `xhist_qs.h`. Texts of C end with a zero; those that are not UTF-8 become `?`.

#![cfg_attr(not(feature = "std"), no_std)]

// It has the critical section.
#[cfg(not(feature = "std"))]
use cortex_m as _;

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicPtr, Ordering};

use xhist_rt::qs::{self, BuildTime, Callbacks, Channel, Fields, Fun, Info, Kind, Obj, Records, Sig};

type Clock = extern "C" fn() -> u32;
type Dictionaries = extern "C" fn();
type Command = extern "C" fn(u8, u32, u32, u32);

/// The program's functions.
static CLOCK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
static DICTIONARIES: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// The receive channel, which one thread or one level of interrupts uses.
struct Receiver(UnsafeCell<Channel<512>>);

// SAFETY: `xhist_qs_receive` alone uses it, and its caller promises not to do so twice at a time.
unsafe impl Sync for Receiver {}

static RECEIVER: Receiver = Receiver(UnsafeCell::new(Channel::new()));

#[cfg(not(feature = "std"))]
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// # Safety
/// `text` is null or a text that ends with a zero.
unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller promises a text that ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

fn now() -> u32 {
    let clock = CLOCK.load(Ordering::Relaxed);
    // SAFETY: `xhist_qs_start_built` has put a function of this type there, or nothing.
    unsafe { core::mem::transmute::<*mut (), Option<Clock>>(clock) }.map_or(0, |clock| clock())
}

fn send_dictionaries() {
    let dictionaries = DICTIONARIES.load(Ordering::Relaxed);
    // SAFETY: as above.
    if let Some(send) = unsafe { core::mem::transmute::<*mut (), Option<Dictionaries>>(dictionaries) } {
        send();
    }
}

/// # Safety
/// `date` and `time` are null, or texts that end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_start_built(
    max_active: u8,
    clock: Option<Clock>,
    dictionaries: Option<Dictionaries>,
    date: *const c_char,
    time: *const c_char,
) {
    // SAFETY: the caller promises two texts.
    let build = built(unsafe { text(date) }, unsafe { text(time) }).unwrap_or_default();
    CLOCK.store(clock.map_or(core::ptr::null_mut(), |clock| clock as *mut ()), Ordering::Relaxed);
    let send = dictionaries.map_or(core::ptr::null_mut(), |send| send as *mut ());
    DICTIONARIES.store(send, Ordering::Relaxed);
    let time = clock.map(|_| now as fn() -> u32);
    let dictionaries = dictionaries.map(|_| send_dictionaries as fn());
    qs::start(Info { max_active, time, dictionaries, build, ..Info::default() });
}

/// The time in C's `__DATE__` and `__TIME__`: `Jul 14 2023`, `09:26:53`.
fn built(date: &str, time: &str) -> Option<BuildTime> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let number = |text: &str, from: usize| text.get(from..from + 2)?.trim_start().parse().ok();
    let month = MONTHS.find(date.get(..3)?)? / 3 + 1;
    Some(BuildTime {
        second: number(time, 6)?,
        minute: number(time, 3)?,
        hour: number(time, 0)?,
        day: number(date, 4)?,
        month: month as u8,
        year: number(date, 9)?,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn xhist_qs_is_on(id: u8, object: u8) -> bool {
    qs::is_on(id, object)
}

#[unsafe(no_mangle)]
pub extern "C" fn xhist_qs_switch(id: u8, on: bool) {
    let switch = if on { qs::global_on } else { qs::global_off };
    switch(Records::Id(id));
}

/// # Safety
/// `group` is null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_switch_group(group: *const c_char, on: bool) -> bool {
    // SAFETY: the caller promises a text.
    let group = Records::named(unsafe { text(group) }.as_bytes());
    if let Some(records) = group {
        let switch = if on { qs::global_on } else { qs::global_off };
        switch(records);
    }
    group.is_some()
}

/// # Safety
/// `elements` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_user(id: u8, elements: *const u8, len: usize) {
    let is_free = (100..118).contains(&id) || id == 124;
    if is_free && !elements.is_null() {
        // SAFETY: the caller promises these bytes.
        let elements = unsafe { core::slice::from_raw_parts(elements, len) };
        qs::user(id, |to| to.bytes(elements));
    }
}

/// Bytes of a signal and of an object's address in a record.
#[unsafe(no_mangle)]
pub static XHIST_QS_SIGNAL_BYTES: [u8; 2] = [qs::SIZES.sig, qs::SIZES.obj];

/// # Safety
/// `letters` is null or a text that ends with a zero. `values` has a value for each letter but the T of the time stamp.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_record(id: u8, letters: *const c_char, values: *const u64) {
    // SAFETY: the caller promises a text.
    let letters = unsafe { text(letters) };
    let (is_timed, letters) = match letters.strip_prefix('T') {
        Some(letters) => (true, letters),
        None => (false, letters),
    };
    let values = match values.is_null() {
        true => &[],
        // SAFETY: the caller promises a value for each letter.
        false => unsafe { core::slice::from_raw_parts(values, letters.len()) },
    };
    qs::put(id, is_timed, |to| {
        for (letter, value) in letters.bytes().zip(values) {
            if let Some(kind) = kind(letter) {
                to.number(kind, *value);
            }
        }
    });
}

fn kind(letter: u8) -> Option<Kind> {
    Some(match letter {
        b'O' => Kind::Obj,
        b'F' => Kind::Fun,
        b'S' => Kind::Sig,
        b'E' => Kind::EvtSize,
        b'Q' => Kind::QueueCtr,
        b'P' => Kind::PoolCtr,
        b'C' => Kind::TimeCtr,
        b'1' => Kind::U8,
        b'2' => Kind::U16,
        b'4' => Kind::U32,
        _ => return None,
    })
}

/// # Safety
/// `module` is null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_assertion(module: *const c_char, location: u16) {
    // SAFETY: the caller promises a text.
    qs::assertion(unsafe { text(module) }, location);
}

#[unsafe(no_mangle)]
pub extern "C" fn xhist_qs_exit(code: i32) {
    qs::exit(code);
}

/// # Safety
/// `name` is null or a text that ends with a zero, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_name_obj(object: *const u8, name: *const c_char) {
    // SAFETY: the caller promises a text.
    qs::name_obj(Obj(object.addr()), unsafe { text(name) });
}

/// # Safety
/// See above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_name_fun(function: *const u8, name: *const c_char) {
    // SAFETY: the caller promises a text.
    qs::name_fun(Fun::of(function.cast()), unsafe { text(name) });
}

/// # Safety
/// See above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_name_sig(signal: u32, object: *const u8, name: *const c_char) {
    // SAFETY: the caller promises a text.
    qs::name_sig(Sig(signal), Obj(object.addr()), unsafe { text(name) });
}

/// # Safety
/// See above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_name_user(id: u8, name: *const c_char) {
    // SAFETY: the caller promises a text.
    qs::name_user(id, unsafe { text(name) });
}

/// # Safety
/// See above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_name_enum(group: u8, value: u8, name: *const c_char) {
    // SAFETY: the caller promises a text.
    qs::name_enum(group, value, unsafe { text(name) });
}

#[unsafe(no_mangle)]
pub extern "C" fn xhist_qs_flush() {
    qs::flush();
}

/// # Safety
/// `into` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_get_block(into: *mut u8, len: usize) -> usize {
    // SAFETY: the caller promises this room.
    if into.is_null() { 0 } else { qs::get_block(unsafe { core::slice::from_raw_parts_mut(into, len) }) }
}

/// The program's function for commands.
struct Application(Option<Command>);

impl Callbacks for Application {
    fn command(&mut self, command: u8, [a, b, c]: [u32; 3]) {
        if let Some(act) = self.0 {
            act(command, a, b, c);
        }
    }
}

/// # Safety
/// It is not called while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xhist_qs_receive(byte: u8, command: Option<Command>) {
    // SAFETY: the caller promises that nothing else uses it.
    let channel = unsafe { &mut *RECEIVER.0.get() };
    channel.byte(byte, &mut Application(command));
}
