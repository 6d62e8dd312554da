//! The functions of `xhist_qs.h`. Texts of C end with a zero; those that are not UTF-8 become `?`.

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, OnceLock};

use xhist_rt::qs::{self, Callbacks, Channel, Fields, Fun, Info, Obj, Records, Sig};

type Clock = extern "C" fn() -> u32;
type Dictionaries = extern "C" fn();
type Command = extern "C" fn(u8, u32, u32, u32);

static CLOCK: OnceLock<Clock> = OnceLock::new();
static DICTIONARIES: OnceLock<Dictionaries> = OnceLock::new();
static CHANNEL: Mutex<Channel<512>> = Mutex::new(Channel::new());

/// # Safety
/// `text` is null or a text that ends with a zero.
unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller promises a text that ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

#[unsafe(no_mangle)]
pub extern "C" fn xhist_qs_start(max_active: u8, clock: Option<Clock>, dictionaries: Option<Dictionaries>) {
    if let Some(clock) = clock {
        let _ = CLOCK.set(clock);
    }
    if let Some(dictionaries) = dictionaries {
        let _ = DICTIONARIES.set(dictionaries);
    }
    let time: Option<fn() -> u32> = CLOCK.get().map(|_| (|| CLOCK.get().map_or(0, |clock| clock())) as fn() -> u32);
    let dictionaries = DICTIONARIES.get().map(|_| {
        let send: fn() = || {
            if let Some(dictionaries) = DICTIONARIES.get() {
                dictionaries();
            }
        };
        send
    });
    qs::start(Info { max_active, time, dictionaries, ..Info::default() });
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
        let elements = unsafe { std::slice::from_raw_parts(elements, len) };
        qs::user(id, |to| to.bytes(elements));
    }
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
    if into.is_null() { 0 } else { qs::get_block(unsafe { std::slice::from_raw_parts_mut(into, len) }) }
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

#[unsafe(no_mangle)]
pub extern "C" fn xhist_qs_receive(byte: u8, command: Option<Command>) {
    let mut channel = CHANNEL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    channel.byte(byte, &mut Application(command));
}
