//! A check that finds a chunk full, on x86-64 Linux: how it calls the slow path.
//!
//! `xhist_turn` keeps all registers except the cursor's, vectors and the floating-point state too. The compiler takes
//! the call for code that accesses no memory, so it may keep the thread's cursor in a register across loops. The call
//! passes the cursor and returns the new one. A list of all vector registers at each check would make the compiler's
//! work a fifth longer.

use core::arch::{asm, global_asm};

use crate::hosted::slow_path::roll_over;
use crate::hosted::thread_state::tls;

// The cursor is passed and returned in rax. The stack may have any alignment, because the compiler may call this
// before a function has set up its frame.
//
// `$kept` has what the processor says of the state that has to be kept: the bytes that it takes, its components, and the
// way to save them. 0 bytes: it was not asked yet. Threads that ask at the same time store the same. The components are
// x87, SSE, AVX and AVX-512, those that the system enables. The ways are 0 `fxsave`, for a processor that has nothing
// else, 1 `xsave`, 2 `xsavec`, and 3, which is 2 if more is in use than the SSE registers. `xsaveopt` would rely on an
// earlier save to the same address, which is stack. `$kept_initial` has no component.
macro_rules! define_turn {
    ($turn:literal, $kept:literal, $callee:path) => {
        global_asm!(
            concat!(".pushsection .bss.", $kept, ",\"aw\",@nobits"),
            ".p2align 3",
            concat!(".globl ", $kept),
            concat!(".hidden ", $kept),
            concat!($kept, ":"),
            ".zero 16",
            ".popsection",
            concat!(".pushsection .rodata.", $kept, ",\"a\",@progbits"),
            ".p2align 6",
            concat!($kept, "_initial:"),
            ".zero 520",
            ".quad 0x8000000000000000",
            ".zero 48",
            ".popsection",
            concat!(".pushsection .text.", $turn, ",\"ax\",@progbits"),
            concat!(".globl ", $turn),
            concat!(".hidden ", $turn),
            concat!(".type ", $turn, ",@function"),
            ".p2align 4",
            concat!($turn, ":"),
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            "mov rdi, rax",
            concat!("mov rcx, qword ptr [rip + ", $kept, "]"),
            "test rcx, rcx",
            "jz 50f",
            "20:",
            concat!("mov r9d, dword ptr [rip + ", $kept, " + 8]"),
            concat!("mov r8d, dword ptr [rip + ", $kept, " + 12]"),
            "cmp r8d, 3",
            "jne 21f",
            // All but the lower halves of the first vectors is in its initial state, as where a signal handler begins.
            // A handler has little stack.
            "mov r10, rcx",
            "mov ecx, 1",
            "xgetbv",
            "mov rcx, r10",
            "test eax, 0xe5",
            "jnz 21f",
            "sub rsp, 256",
            "and rsp, -16",
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
            "movaps xmmword ptr [rsp + 16 * \\n], xmm\\n",
            ".endr",
            "call {callee}",
            "mov rdi, rax",
            "mov ecx, 1",
            "xgetbv",
            "test eax, 0xe5",
            "jz 32f",
            "mov eax, 0xe5",
            "xor edx, edx",
            concat!("xrstor64 [rip + ", $kept, "_initial]"),
            "32:",
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
            "movaps xmm\\n, xmmword ptr [rsp + 16 * \\n]",
            ".endr",
            "jmp 42f",
            // The area is aligned, and its header is zero.
            "21:",
            "sub rsp, rcx",
            "and rsp, -64",
            "xor edx, edx",
            "lea rcx, [rsp + 512]",
            "mov qword ptr [rcx], rdx",
            "mov qword ptr [rcx + 8], rdx",
            "mov qword ptr [rcx + 16], rdx",
            "mov qword ptr [rcx + 24], rdx",
            "mov qword ptr [rcx + 32], rdx",
            "mov qword ptr [rcx + 40], rdx",
            "mov qword ptr [rcx + 48], rdx",
            "mov qword ptr [rcx + 56], rdx",
            "mov eax, r9d",
            "cmp r8d, 1",
            "jb 22f",
            "je 23f",
            "xsavec64 [rsp]",
            "jmp 30f",
            "22:",
            "fxsave64 [rsp]",
            "jmp 30f",
            "23:",
            "xsave64 [rsp]",
            "30:",
            "call {callee}",
            "mov rdi, rax",
            "xor edx, edx",
            concat!("mov eax, dword ptr [rip + ", $kept, " + 8]"),
            concat!("cmp dword ptr [rip + ", $kept, " + 12], 1"),
            "jb 41f",
            "xrstor64 [rsp]",
            "jmp 42f",
            "41:",
            "fxrstor64 [rsp]",
            "42:",
            "mov rax, rdi",
            "lea rsp, [rbp - 64]",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop rbp",
            ".cfi_remember_state",
            ".cfi_def_cfa rsp, 8",
            "ret",
            // Asks the processor. r8: the bytes by the offsets of the components. r9: their lengths together, for `xsavec`.
            // r10: the components. r11: the way.
            "50:",
            ".cfi_restore_state",
            "push rbx",
            "mov r8d, 576",
            "mov r9d, 576",
            "xor r10d, r10d",
            "xor r11d, r11d",
            "mov eax, 1",
            "xor ecx, ecx",
            "cpuid",
            "bt ecx, 27",
            "jnc 59f",
            "xor ecx, ecx",
            "xgetbv",
            "and eax, 0xe7",
            "mov r10d, eax",
            "mov eax, 0xd",
            "mov ecx, 1",
            "cpuid",
            "mov r11d, 1",
            "bt eax, 1",
            "adc r11d, 0",
            // Bit 2: the processor says what is in use. Those that do have `xsavec`.
            "and eax, 6",
            "cmp eax, 6",
            "mov ecx, 3",
            "cmove r11d, ecx",
            "mov esi, 2",
            "51:",
            "bt r10d, esi",
            "jnc 52f",
            "mov eax, 0xd",
            "mov ecx, esi",
            "cpuid",
            "lea ecx, [rax + 63]",
            "and ecx, -64",
            "add r9d, ecx",
            "add eax, ebx",
            "cmp r8d, eax",
            "cmovb r8d, eax",
            "52:",
            "inc esi",
            "cmp esi, 8",
            "jb 51b",
            "59:",
            "cmp r8d, r9d",
            "cmovb r8d, r9d",
            "pop rbx",
            concat!("mov dword ptr [rip + ", $kept, " + 8], r10d"),
            concat!("mov dword ptr [rip + ", $kept, " + 12], r11d"),
            "mov rcx, r8",
            concat!("mov qword ptr [rip + ", $kept, "], rcx"),
            "jmp 20b",
            ".cfi_endproc",
            concat!(".size ", $turn, ", . - ", $turn),
            ".popsection",
            callee = sym $callee,
        );
    };
}

define_turn!("xhist_turn", "xhist_kept", roll_over);

/// Rolls over. Returns where the words continue.
#[expect(clippy::pointers_in_nomem_asm_block, reason = "the program reads nothing that a roll-over writes")]
#[inline(always)]
pub(super) fn call_roll_over(mut cursor: *mut u8) -> *mut u8 {
    // SAFETY: a roll-over accesses the ring and the state of this thread, which the program's own code does not
    // access. The only value of that state that the program holds in a register is the cursor, which is passed. All
    // other registers are kept.
    unsafe { asm!("call xhist_turn", inout("rax") cursor, options(nomem)) };
    cursor
}

/// [`call_roll_over`] for assembly that keeps the cursor in memory.
#[inline(always)]
pub(super) fn call_roll_over_in_asm() {
    let tls = tls();
    // SAFETY: `tls` points to the state of this thread, whose cursor only this thread accesses. The call passes it.
    // All other registers are kept.
    unsafe {
        let mut cursor = (*tls).cursor;
        asm!("call xhist_turn", inout("rax") cursor);
        (*tls).cursor = cursor;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use core::arch::{asm, global_asm};
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
    use std::arch::is_x86_feature_detected;
    use std::vec::Vec;

    define_turn!("xhist_test_turn", "xhist_test_kept", destroy);

    /// See `define_turn`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    struct Kept {
        bytes: u64,
        components: u32,
        way: u32,
    }

    const FXSAVE: u32 = 0;
    const XSAVE: u32 = 1;
    const XSAVEC: u32 = 2;
    const BY_USE: u32 = 3;

    unsafe extern "C" {
        #[link_name = "xhist_test_kept"]
        static mut KEPT: Kept;
    }

    /// The bytes of the vectors that `destroy` changes.
    static WIDTH: AtomicU8 = AtomicU8::new(0);

    /// What is in the registers.
    #[repr(C, align(64))]
    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Registers {
        vectors: [[u8; 64]; 32],
        masks: [u64; 8],
        /// rcx, rdx, rsi, rdi, r8 to r11.
        general: [u64; 8],
        /// The top of the floating-point stack.
        float: u64,
    }

    /// An area without any component.
    #[repr(C, align(64))]
    struct Initial([u8; 576]);

    impl Registers {
        const EMPTY: Registers =
            Registers { vectors: [[0; 64]; 32], masks: [0; 8], general: [0; 8], float: 0 };

        /// Other bytes in all registers of this width. Only where the vectors are the widest, the floating-point stack is in
        /// use as well.
        fn full(width: u8, most: u8) -> Registers {
            let mut full = Registers::EMPTY;
            let count = if width == 64 { 32 } else { 16 };
            for (number, vector) in full.vectors[..count].iter_mut().enumerate() {
                let bytes = vector[..width.into()].iter_mut().enumerate();
                bytes.for_each(|(at, byte)| *byte = (number * 7 + at * 3 + 1) as u8);
            }
            if width == 64 {
                full.masks = core::array::from_fn(|number| 0x1001 * (number as u64 + 1));
            }
            full.general = core::array::from_fn(|number| 0x0123_4567_89AB_CDEF * (number as u64 + 3));
            if width == most {
                full.float = 2.5f64.to_bits();
            }
            full
        }
    }

    /// One instruction for each register: `$each` has `\\n` in place of its number.
    macro_rules! each {
        ($count:tt, $each:literal) => {
            concat!(".irp n, ", each!($count), "\n", $each, "\n.endr")
        };
        (8) => {
            "0,1,2,3,4,5,6,7"
        };
        (16) => {
            "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
        };
        (32) => {
            "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
        };
    }

    /// In place of the slow path: it changes all that a function may change, and returns the next address.
    extern "C" fn destroy(at: *mut u8) -> *mut u8 {
        // SAFETY: a function may change these registers, and the processor has them.
        unsafe {
            match WIDTH.load(Relaxed) {
                64 => asm!(
                    each!(32, "vpternlogd zmm\\n, zmm\\n, zmm\\n, 255"),
                    each!(8, "kxnorw k\\n, k\\n, k\\n"),
                    clobber_abi("C"),
                ),
                32 => asm!(each!(16, "vxorps ymm\\n, ymm\\n, ymm\\n"), clobber_abi("C")),
                _ => asm!(each!(16, "xorps xmm\\n, xmm\\n"), clobber_abi("C")),
            }
            asm!(
                "fninit",
                "mov eax, 1",
                "mov ecx, eax",
                "mov edx, eax",
                "mov esi, eax",
                "mov edi, eax",
                "mov r8d, eax",
                "mov r9d, eax",
                "mov r10d, eax",
                "mov r11d, eax",
                clobber_abi("C"),
            );
        }
        at.wrapping_add(1)
    }

    /// The registers behind a call with `before` in them, which are vectors of this width. The call changes vectors of
    /// `most` bytes.
    fn turned(before: &Registers, width: u8, most: u8) -> Registers {
        let mut after = Registers::EMPTY;
        let cursor: usize;
        let initial = Initial([0; 576]);
        macro_rules! turn {
            ([$($load:expr),*], [$($store:expr),*]) => {
                asm!(
                    // The stack ahead has old bytes.
                    "mov rax, -1",
                    "lea rdi, [rsp - 8192]",
                    "mov ecx, 1024",
                    "rep stosq",
                    $($load,)*
                    "mov rcx, [r12 + 2112]",
                    "mov rdx, [r12 + 2120]",
                    "mov rsi, [r12 + 2128]",
                    "mov rdi, [r12 + 2136]",
                    "mov r8, [r12 + 2144]",
                    "mov r9, [r12 + 2152]",
                    "mov r10, [r12 + 2160]",
                    "mov r11, [r12 + 2168]",
                    "mov eax, 0x1000",
                    "call xhist_test_turn",
                    "mov [r13 + 2112], rcx",
                    "mov [r13 + 2120], rdx",
                    "mov [r13 + 2128], rsi",
                    "mov [r13 + 2136], rdi",
                    "mov [r13 + 2144], r8",
                    "mov [r13 + 2152], r9",
                    "mov [r13 + 2160], r10",
                    "mov [r13 + 2168], r11",
                    $($store,)*
                    out("rax") cursor,
                    in("r12") before,
                    in("r13") &raw mut after,
                    in("r14") &raw const initial,
                    clobber_abi("C"),
                )
            };
        }
        // All registers but the loaded ones get their initial state.
        macro_rules! initial {
            () => {
                "mov eax, 0xe5\nxor edx, edx\nxrstor64 [r14]"
            };
        }
        macro_rules! load_16 {
            () => {
                each!(16, "movups xmm\\n, [r12 + 64 * \\n]")
            };
        }
        macro_rules! load_32 {
            () => {
                each!(16, "vmovups ymm\\n, [r12 + 64 * \\n]")
            };
        }
        macro_rules! store_32 {
            () => {
                each!(16, "vmovups [r13 + 64 * \\n], ymm\\n")
            };
        }
        macro_rules! store_64 {
            () => {
                concat!(
                    each!(32, "vmovdqu64 [r13 + 64 * \\n], zmm\\n"),
                    "\n",
                    each!(8, "kmovw word ptr [r13 + 2048 + 8 * \\n], k\\n")
                )
            };
        }
        WIDTH.store(most, Relaxed);
        // SAFETY: the processor has the registers, and both places have room for them.
        unsafe {
            match (width, most) {
                (64, _) => turn!(
                    [
                        "fld qword ptr [r12 + 2176]",
                        each!(32, "vmovdqu64 zmm\\n, [r12 + 64 * \\n]"),
                        each!(8, "kmovw k\\n, word ptr [r12 + 2048 + 8 * \\n]")
                    ],
                    ["fstp qword ptr [r13 + 2176]", store_64!()]
                ),
                (32, 64) => turn!([initial!(), load_32!()], [store_64!()]),
                (16, 64) => turn!([initial!(), load_16!()], [store_64!()]),
                (32, _) => turn!(
                    ["fld qword ptr [r12 + 2176]", load_32!()],
                    ["fstp qword ptr [r13 + 2176]", store_32!()]
                ),
                (_, 32) => turn!([initial!(), load_16!()], [store_32!()]),
                _ => turn!(
                    ["fld qword ptr [r12 + 2176]", load_16!()],
                    ["fstp qword ptr [r13 + 2176]", each!(16, "movups [r13 + 64 * \\n], xmm\\n")]
                ),
            }
        }
        assert_eq!(cursor, 0x1001);
        after
    }

    /// One test, because the state of the roll-over is one.
    #[test]
    fn a_roll_over_keeps_all_registers() {
        let mut widths = std::vec![16];
        widths.extend(is_x86_feature_detected!("avx").then_some(32));
        widths.extend(is_x86_feature_detected!("avx512f").then_some(64));
        let most = widths[widths.len() - 1];
        let is_kept = |width: u8, most: u8| {
            let full = Registers::full(width, most);
            turned(&full, width, most) == full
        };
        let kept = || -> Vec<bool> { widths.iter().map(|width| is_kept(*width, most)).collect() };
        // SAFETY: no other test uses it.
        let (asked, set) = unsafe { (|| (&raw const KEPT).read(), |kept| (&raw mut KEPT).write(kept)) };
        assert_eq!(asked().bytes, 0);
        assert_eq!(kept(), std::vec![true; widths.len()]);
        let Kept { bytes, components, way } = asked();
        assert!((576..8192).contains(&bytes), "{bytes}");
        assert_eq!(way >= XSAVE, components & 3 == 3);
        assert_eq!(way >= XSAVEC, is_x86_feature_detected!("xsavec"));
        assert!(way <= BY_USE);
        for way in XSAVE..=way {
            set(Kept { bytes, components, way });
            assert_eq!(kept(), std::vec![true; widths.len()], "{way}");
            // What is left out of the components is lost, so this test sees what is not kept.
            set(Kept { bytes, components: components & 3, way });
            let expected = |width: &u8| most == 16 || *width == 16 && way == BY_USE;
            assert_eq!(kept(), widths.iter().map(expected).collect::<Vec<_>>(), "{way}");
        }
        set(Kept { bytes: 576, components: 0, way: FXSAVE });
        assert!(is_kept(16, 16));
    }
}
