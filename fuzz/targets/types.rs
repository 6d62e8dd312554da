//! Any file as a program, and any bytes as values of its types: no panic, no hang, and short texts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_history::program::values::types::{Program, Target, render, render_target};

/// Bytes at the end of the input that are values.
const VALUE: usize = 32;

fuzz_target!(|input: &[u8]| {
    let (file, value) = input.split_at(input.len().saturating_sub(VALUE));
    let Some(mut program) = Program::read(Box::new(file.to_vec())) else { return };
    let mut numbers: Vec<u32> = program.numbers().collect();
    numbers.sort_unstable();
    for number in numbers.into_iter().take(16) {
        for row in program.rows(number).to_vec().into_iter().take(2) {
            let answer = program.type_of(row);
            let memory = &program.memory(program.slide(u64::from(number) << 12).ok().flatten());
            if let Some(layout) = &answer.layout {
                assert_eq!(layout.size, u64::from(row.size));
                let kept = &value[..value.len().min(row.size as usize)];
                for len in [0, 1, kept.len() / 2, kept.len()] {
                    assert!(render(&kept[..len.min(kept.len())], layout, memory).len() < 4096);
                }
            }
            if let Some(element) = &answer.target {
                let target = Target { bytes: value, elements: u64::from(row.size) };
                assert!(render_target(target, element, memory).len() < 4096);
            }
        }
    }
});
