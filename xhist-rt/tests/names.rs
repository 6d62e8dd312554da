//! Features only add: this one program names every public item, and compiles whatever features are on.
//!
//! `.ci/run` compiles it in each shape of the recorder.

use xhist_rt::qs::{self, Draft, Info};
use xhist_rt::trace::{self, Code, Logger, Severity};
use xhist_rt::{Init, RING_SIZE, profile_event, qs_record, trace_event};

/// What inserted calls name. Hidden from the documentation.
fn hooks() {
    const SHORT: u64 = xhist_rt::short(1, 2, 1);
    const LONG: u64 = xhist_rt::long(1, 2);
    xhist_rt::s(SHORT);
    xhist_rt::a(SHORT);
    xhist_rt::p(SHORT);
    xhist_rt::c(SHORT);
    xhist_rt::e(SHORT);
    xhist_rt::ae(SHORT);
    xhist_rt::pe(SHORT);
    xhist_rt::ce(SHORT);
    xhist_rt::sl(LONG);
    xhist_rt::al(LONG);
    xhist_rt::pl(LONG);
    xhist_rt::cl(LONG);
    xhist_rt::el(LONG);
    xhist_rt::ael(LONG);
    xhist_rt::pel(LONG);
    xhist_rt::cel(LONG);
    xhist_rt::r(&xhist_rt::t());
    xhist_rt::at(1, 2);
    xhist_rt::start_at(0, 1);
    xhist_rt::stop_at(0, 1, 5);
    xhist_rt::m(xhist_rt::hash_from_hex(None));
    xhist_rt::me(0);
    xhist_rt::m!();
    xhist_rt::me!();
    xhist_rt::mv::<0>();
    xhist_rt::mev::<0>();
    xhist_rt::mv!();
    xhist_rt::mev!();
    xhist_rt::v::<1, _>(&1u32);
    xhist_rt::vw::<2, _>(&[1u32; 6]);
    xhist_rt::vt::<3, _>(&"text");
    xhist_rt::vg::<4, _>(&1u8);
    xhist_rt::vwg::<5, _>(&[1u64; 3]);
    xhist_rt::vtg::<6, _>(&String::new());
    xhist_rt::vr::<7, _>(&&1u32);
    xhist_rt::vrg::<8, _>(&&String::new());
    xhist_rt::watch(0, 5, Some("12"), &11u32);
}

fn set_up() -> bool {
    xhist_rt::xhist_logdev(-1);
    xhist_rt::xhist_write();
    let _: extern "C" fn() = xhist_rt::xhist_write;
    let _: extern "C" fn(core::ffi::c_int) = xhist_rt::xhist_logdev;
    let _: fn() = xhist_rt::init;
    let init: Init = Init::new().signal(10).no_signal().no_panic_line();
    let _ = Init::default().clone();
    #[cfg(feature = "std")]
    let _ = Init::new().file("history.xhist");
    init.install()
}

fn recording() {
    xhist_rt::stop_on_record(100, 5);
    xhist_rt::stop_after(1_000);
    xhist_rt::clear();
    xhist_rt::stop();
    xhist_rt::start();
}

fn history() -> usize {
    let mut places = [(0, 0); 4];
    let mut bytes = 0;
    xhist_rt::export(|piece: &[u8]| bytes += piece.len());
    assert!(!xhist_rt::export_earlier(|_| {}), "nothing is from before a reset");
    assert_eq!(xhist_rt::interrupt(3, || 7), 7);
    let last: &[(u16, u16)] = xhist_rt::last(&mut places);
    assert!(last.len() <= 4 && (RING_SIZE == 0 || bytes > RING_SIZE));
    bytes
}

fn link() -> usize {
    xhist_rt::flush();
    qs::flush();
    let mut block = [0; 64];
    let taken = xhist_rt::get_block(&mut block) + qs::get_block(&mut block);
    taken + [xhist_rt::get_byte(), qs::get_byte()].into_iter().flatten().count()
}

/// A target as a host sees it.
struct Target;

impl qs::Callbacks for Target {}

fn target() {
    const { assert!(qs::SIZES.time <= 4 && qs::user_id(100) == qs::USER_BASE) };
    qs::start(Info { build: qs::BuildTime::default(), time: Some(|| 1), ..Info::default() });
    qs::global_on(qs::Records::All);
    qs::global_off(qs::Records::Id(31));
    qs::local_on(qs::Objects::All);
    qs::local_off(qs::Objects::Id(3));
    let _ = (qs::global(), qs::local(), qs::is_on(100, 0));
    let object = qs::Obj::of(&Target);
    let function = qs::Fun::of(target as *const ());
    qs::name_obj(object, "object");
    qs::name_obj_of(object, "object", 1);
    qs::name_fun(function, "target");
    qs::name_sig(qs::Sig(5), object, "SIG");
    qs::name_user(100, "STAT");
    qs::name_enum(2, 1, "EATING");
    qs::name_files(None);
    xhist_rt::name_files!();
    qs::record(0, &qs::Empty {});
    qs::send(&qs::QfTick { ctr: 1, rate: 0 });
    qs::put(60, true, |to: &mut Draft<'_>| qs::element::u8(to, 0, 1));
    qs::user(100, |to: &mut Draft<'_>| qs::element::u8(to, 0, 1));
    qs_record!(100, 0; u8 1, str "text", enum[2] 1);
    qs::assertion("module", 5);
    qs::exit(0);
    let mut channel = qs::Channel::<64>::new();
    channel.byte(0x7E, &mut Target);
    let _: Option<qs::Obj> = channel.current(0);
    let inbox = qs::Inbox::<8>::new();
    let _ = (inbox.put(1), inbox.take(), inbox.free());
    let known: Option<&qs::RecordInfo> = qs::info(3);
    assert!(known.is_some_and(|known| known.group == qs::Group::Sm) && !qs::RECORDS.is_empty());
    #[cfg(feature = "memory")]
    qs::allow_memory(&[]);
    #[cfg(feature = "qutest")]
    let _ = qs::test_probe(function);
}

fn trace_events() {
    const TIMER: u8 = 33;
    let _: Option<Logger> = trace::logger();
    trace::set_logger(Some(trace::to_ring));
    trace::enable(TIMER..=TIMER);
    let code = Code::new(Code::major_of("uart"), 5);
    trace_event!(Hw1, code; 3, 0x14u8; &[1, 2]);
    profile_event!(TIMER, 5; 12u64);
    trace::trace0(Severity::Sw0, code);
    trace::trace0b(Severity::Sw0, code, &[1]);
    trace::trace6(Severity::Sw0, code, 1, 2, 3, 4, 5, 6);
    trace::trace6b(Severity::Sw0, code, 1, 2, 3, 4, 5, 6, &[1]);
    trace::exception(Severity::Sw0, code, [trace::Arg::from(1)], None);
    trace::profile(TIMER, 0, [], None);
    trace::line(trace::LogLevel::Info, "names", format_args!("{}", 1));
    #[cfg(feature = "std")]
    {
        xhist_rt::print!("printed");
        xhist_rt::println!(" {}", 1);
        xhist_rt::eprint!("printed");
        xhist_rt::eprintln!(" {}", 1);
        assert_eq!(xhist_rt::dbg!(1 + 1, "two"), (2, "two"));
    }
    let class = trace::Class::Profile { opcode: TIMER, data: 0 };
    trace::event(&trace::Event { class, args: &[], buffer: None });
    let _: trace::Opcodes = trace::opcodes();
    trace::set_severities(&[Severity::Sw0]);
    let _ = (trace::is_logged(), trace::is_wanted(Severity::Sw0), trace::is_profiled(TIMER));
    let _ = trace::add_logger(trace::to_ring);
    #[cfg(all(feature = "trace", feature = "std"))]
    let _: extern "C" fn() = trace::record_writes::<false>;
    trace::disable(..);
    trace::set_logger(None);
}

#[test]
fn the_program_runs_in_every_shape() {
    hooks();
    assert!(set_up());
    target();
    trace_events();
    recording();
    let (bytes, taken) = (history(), link());
    let is_bare = cfg!(feature = "trace") && cfg!(not(feature = "std"));
    assert_eq!((bytes > 0, RING_SIZE != 0), (is_bare, is_bare));
    assert_eq!(taken > 0, cfg!(feature = "trace"), "bytes for a link");
}

/// Names behind `pub use` in a source file, those of record types aside.
fn exported(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for statement in source.split(';').filter_map(|text| text.split_once("pub use ")).map(|(_, path)| path) {
        let list = statement.rsplit("::").next().unwrap_or(statement);
        let list = if statement.contains('{') {
            statement.split_once('{').map_or("", |(_, list)| list)
        } else {
            list
        };
        names.extend(list.split([',', '}']).map(str::trim).filter(|name| !name.is_empty() && *name != "*"));
    }
    names
}

#[test]
fn the_program_names_every_function_of_the_crate() {
    let program = include_str!("names.rs");
    let sources = [
        include_str!("../src/lib.rs"),
        include_str!("../src/qs/mod.rs"),
        include_str!("../src/trace/mod.rs"),
    ];
    let names: Vec<&str> = sources.into_iter().flat_map(exported).collect();
    assert!(names.len() > 80 && names.contains(&"stop_on_record"), "{names:?}");
    let is_function = |name: &&str| name.starts_with(char::is_lowercase);
    let is_named = |name: &str| {
        program.match_indices(name).any(|(at, _)| {
            let rest = &program[at + name.len()..];
            program[..at].ends_with("::")
                && !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    };
    // Trace1 to Trace5 differ in the number of arguments only.
    let shapes: Vec<String> =
        (1..6).flat_map(|args| [format!("trace{args}"), format!("trace{args}b")]).collect();
    let modules = ["inlined", "unoptimised"];
    let missing: Vec<_> = names
        .into_iter()
        .filter(is_function)
        .filter(|name| !shapes.contains(&(*name).to_owned()) && !modules.contains(name) && !is_named(name))
        .collect();
    assert!(missing.is_empty(), "not named by the program: {missing:?}");
}
