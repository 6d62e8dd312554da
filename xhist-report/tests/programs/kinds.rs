//! Values of each kind, with their bytes, and with the text that a reader should show.
//!
//! Each line of the output: number, bytes in hexadecimal, text. A row of `.xhist_types` names the type of each number.
#![allow(dead_code)]

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::mem::{MaybeUninit, size_of};
use std::num::{NonZeroI16, NonZeroU8, NonZeroU32, Wrapping};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What the recorder has under this path.
mod xhist_rt {
    pub mod value {
        pub mod types {
            #[inline(never)]
            pub fn of_type<T>() -> &'static str {
                // SAFETY: only a comment, which keeps functions with equal code apart.
                unsafe {
                    core::arch::asm!("/* {of} */", of = sym of_type::<T>, options(nomem, nostack, preserves_flags));
                }
                std::any::type_name::<T>()
            }

            #[inline(never)]
            pub fn anchor() {
                std::hint::black_box(());
            }
        }
    }
}

use xhist_rt::value::types::{anchor, of_type};

/// Emits the row of a type, and prints the value.
#[inline(never)]
fn row<const NUMBER: u32, T>(value: &T, text: &str) {
    // SAFETY: the text only fills a section that is never loaded.
    unsafe {
        std::arch::asm!(
            ".pushsection .xhist_types,\"\",@progbits",
            ".long {number}",
            ".long {size}",
            ".quad {of}",
            ".asciz \"{of}\"",
            ".popsection",
            number = const NUMBER,
            size = const size_of::<T>(),
            of = sym of_type::<T>,
            options(nomem, nostack, preserves_flags),
        );
    }
    std::hint::black_box(of_type::<T>());
    let bytes = std::ptr::from_ref(value).cast::<MaybeUninit<u8>>();
    // SAFETY: the value has that many bytes. Padding is read by an instruction that takes any bytes.
    let byte = |index: usize| unsafe { std::ptr::read_volatile(bytes.add(index).cast::<u8>()) };
    let bytes: String = (0..size_of::<T>()).map(|index| format!("{:02x}", byte(index))).collect();
    println!("{NUMBER}\t{bytes}\t{text}");
}

/// A value whose text is that of `{:?}`, or a text of its own.
macro_rules! kind {
    ($number:literal, $value:expr) => {
        let value = $value;
        row::<$number, _>(&value, &format!("{value:?}"));
        std::hint::black_box(&value);
    };
    ($number:literal, $value:expr, $text:expr) => {
        let value = $value;
        row::<$number, _>(&value, &$text.to_string());
        std::hint::black_box(&value);
    };
}

#[derive(Clone, Copy, Debug)]
enum Niche {
    A(bool),
    B,
}

#[derive(Clone, Debug)]
enum Data {
    Wide { a: u8, b: i64 },
    One(u32),
    Two(u8, u16),
    Nothing,
}

#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Code {
    Low = 3,
    High = 200,
}

#[derive(Clone, Copy, Debug)]
#[repr(i16)]
enum Signed {
    Minus = -5,
    Plus = 5,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, u8)]
enum Tagged {
    Number(u32),
    Text(char),
}

#[derive(Clone, Copy, Debug)]
enum Single {
    Only(u16),
}

#[derive(Clone, Copy, Debug)]
enum Many {
    A(u128),
    B(Option<u8>),
    C { x: f32, y: f32 },
}

#[derive(Clone, Debug)]
struct Generic<T> {
    t: T,
    n: u32,
}

#[derive(Clone, Copy, Debug)]
struct Unit;

#[derive(Clone, Copy, Debug)]
struct Pair(u8, i32);

#[derive(Clone, Copy, Debug)]
struct New(u64);

#[derive(Clone, Copy, Debug)]
struct Nested {
    pair: Pair,
    code: Code,
    unit: Unit,
    some: Option<Code>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
struct Packed {
    a: u8,
    b: u32,
}

#[derive(Clone, Copy)]
union Both {
    number: u32,
    float: f32,
}

#[derive(Debug)]
struct Sized3<const N: usize>([u8; N]);

mod inner {
    #[derive(Debug)]
    pub struct Generic(pub u8);
}

struct List {
    next: Option<Box<List>>,
    value: u8,
}

trait Tr {}
impl Tr for u8 {}

fn plain() {}

fn same<T>(t: T) -> T {
    t
}

async fn later(x: u8) -> u8 {
    x
}

fn generic<T: Copy + std::fmt::Debug>(t: T) {
    kind!(200, t);
    kind!(201, Some(&t), "Some(POINTER)");
}

/// Closures of one function have one name, so an optimiser may take their types for one.
fn closure() {
    let (small, flag) = (7u8, true);
    kind!(87, move |x: u8| x + small + u8::from(flag), "{closure} { small: 7, flag: true }");
}

fn main() {
    println!("0\t{:016x}\tanchor", anchor as *const () as usize);
    // SAFETY: the text only fills a section that is never loaded.
    unsafe {
        std::arch::asm!(
            ".pushsection .xhist_types,\"\",@progbits",
            ".long 0",
            ".long 0",
            ".quad {of}",
            ".asciz \"{of}\"",
            ".popsection",
            of = sym anchor,
            options(nomem, nostack, preserves_flags),
        );
    }
    let text = String::from("hey");
    let boxed: Box<dyn Tr> = Box::new(3u8);
    kind!(1, -5i32);
    kind!(2, 250u8);
    kind!(3, -7i8);
    kind!(4, 65_000u16);
    kind!(5, i16::MIN);
    kind!(6, u32::MAX);
    kind!(7, u64::MAX);
    kind!(8, i64::MIN);
    kind!(9, u128::MAX);
    kind!(10, i128::MIN);
    kind!(11, 3usize);
    kind!(12, -3isize);
    kind!(13, true);
    kind!(14, 'x');
    kind!(15, '\n');
    kind!(16, 'é');
    kind!(17, 1.5f64);
    kind!(18, 1f32);
    kind!(19, f64::NAN);
    kind!(20, -0.0f32);
    kind!(21, ());
    kind!(22, (1u8, 2u32));
    kind!(23, (1u8,));
    kind!(24, (1u8, ('x', false)));
    kind!(25, [1u16; 5]);
    kind!(26, [[1u8, 2], [3, 4]]);
    kind!(27, [0u8; 0]);
    kind!(28, Some(7u16));
    kind!(29, None::<u16>);
    kind!(30, Some(Some(true)));
    kind!(31, Some(None::<bool>));
    kind!(32, None::<Option<bool>>);
    kind!(33, Some(NonZeroU8::new(3).unwrap()));
    kind!(34, NonZeroU32::new(0));
    kind!(35, NonZeroI16::new(-9));
    kind!(36, Some(Box::new(1u8)), "Some(POINTER)");
    kind!(37, None::<Box<u8>>);
    kind!(38, Ok::<u8, u32>(9));
    kind!(39, Err::<u8, u32>(7));
    kind!(40, Ok::<(), Code>(()));
    kind!(41, Err::<(), Code>(Code::High));
    kind!(42, Niche::A(true));
    kind!(43, Niche::B);
    kind!(44, Data::Wide { a: 1, b: -2 });
    kind!(45, Data::One(2121));
    kind!(46, Data::Two(1, 2));
    kind!(47, Data::Nothing);
    kind!(48, Code::Low);
    kind!(49, Code::High);
    kind!(50, Signed::Minus);
    kind!(51, Signed::Plus);
    kind!(52, Tagged::Number(5));
    kind!(53, Tagged::Text('t'));
    kind!(54, Single::Only(4));
    kind!(55, Generic { t: 1u64, n: 2 });
    kind!(56, Generic { t: Some('c'), n: 2 });
    kind!(57, Unit);
    kind!(58, Pair(1, -1));
    kind!(59, New(1 << 40));
    let nested = Nested { pair: Pair(1, 2), code: Code::Low, unit: Unit, some: Some(Code::High) };
    kind!(60, nested);
    kind!(61, Packed { a: 1, b: 2 });
    kind!(62, Both { number: 1 }, "Both { number: 1, float: 1e-45 }");
    kind!(63, Sized3([1u8; 3]));
    kind!(64, inner::Generic(4));
    kind!(65, std::cmp::Ordering::Less);
    kind!(66, Duration::from_millis(1500));
    kind!(67, Duration::from_micros(7));
    kind!(68, "abc");
    kind!(69, "");
    kind!(70, "quote \" and \t tab");
    kind!(71, &b"\x01\x02"[..]);
    kind!(72, &[1u16, 2, 3][..]);
    kind!(73, Some("x"));
    kind!(74, None::<&str>);
    kind!(75, Cow::Borrowed("x"), "Borrowed(\"x\")");
    kind!(76, ("key", 1u8));
    kind!(77, Ok::<&str, u8>("fine"));
    kind!(78, &text, "POINTER");
    kind!(79, &5u8 as *const u8, "POINTER");
    kind!(80, Box::new(5u32), "POINTER");
    kind!(81, boxed, "POINTER");
    kind!(82, &3u8 as &dyn Tr, "POINTER");
    kind!(83, std::ptr::null::<u8>());
    kind!(84, plain as fn(), "kinds::plain");
    kind!(85, same::<u8>, "kinds::same<u8>");
    kind!(86, |x: u8| x as usize + text.len(), "{closure} { text: POINTER }");
    closure();
    kind!(88, later(3), "Unresumed { x: 3 }");
    kind!(89, 1usize..2);
    kind!(90, 1u8..=2, "RangeInclusive { start: 1, end: 2, exhausted: false }");
    kind!(91, Rc::new(RefCell::new(1u8)), "POINTER");
    kind!(92, Arc::new(2u8), "POINTER");
    kind!(93, Cell::new(5u8), "5");
    kind!(94, Wrapping(5u8), "5");
    kind!(95, Many::A(1));
    kind!(96, Many::B(Some(5)));
    kind!(97, Many::C { x: 1.0, y: -2.5 });
    kind!(98, std::pin::pin!(3u8), "POINTER");
    kind!(99, std::marker::PhantomData::<u8>, "PhantomData");
    kind!(100, String::from("target"), "String(POINTER, len 6)");
    kind!(101, vec![1u8, 2], "Vec(POINTER, len 2)");
    kind!(102, Some(String::from("target")), "Some(String(POINTER, len 6))");
    kind!(103, None::<String>);
    kind!(104, List { next: None, value: 1 }, "List { next: None, value: 1 }");
    kind!(105, std::net::Ipv4Addr::new(127, 0, 0, 1), "[127, 0, 0, 1]");
    kind!(106, Some(()));
    kind!(107, None::<std::convert::Infallible>);
    kind!(108, Some(Code::Low));
    kind!(109, &mut [1u8, 2][..], "POINTER[..2]");
    kind!(110, text.as_str(), "POINTER[..3]");
    kind!(111, std::task::Poll::Ready(1u8));
    kind!(112, std::task::Poll::<u8>::Pending);
    kind!(113, std::ops::ControlFlow::<u8, ()>::Break(1));
    kind!(114, HashMap::<String, u32>::new(), "ANY");
    kind!(115, BTreeMap::<u8, u8>::new(), "ANY");
    kind!(116, std::path::Path::new("x"), "\"x\"");
    kind!(117, "tést".chars(), "ANY");
    kind!(118, std::alloc::Layout::new::<u32>(), "ANY");
    generic(1u8);
    generic("a");
    generic(Some(2u16));
}
