//! Packed frames: everything that a recorder writes into a ring is read back exactly, at any cut.

use proptest::collection::vec;
use proptest::prelude::*;
use qs_core::frame::FrameWriter;
use qs_core::record::packed::{
    MAX_DATA, MAX_HEADER, PAGES, Page, Steps, WINDOW, code, digits, payload_head, step,
};
use qs_core::record::value::RecordedValue;
use qs_core::record::{RECORD_BASE, Statement, TaskMark, TaskStep, ids};
use qs_core::ring::{
    BARE_HEADER_LEN, BYTE_ORDER_MARK, Flags, Folded, Header, HeaderError, Item, LAYOUT_VERSION, MAGIC,
    Reader, Repetition, Shown, State, check_word, find, frame_room,
};

/// The file whose statements are values. Their line determines the rest.
const VALUES: u16 = 60_000;

fn value(line: u16) -> RecordedValue {
    let bytes = (u64::from(line) * 0x1234_5678_9ABC).to_le_bytes();
    RecordedValue::new(u32::from(line) + 1, &bytes[..usize::from(line) % 9])
}

/// A minimal recorder. It keeps all bytes it ever wrote, and makes images of the newest ones.
#[derive(Clone, Debug)]
struct Model {
    size: usize,
    written: Vec<u8>,
    seq: u8,
    folded: u64,
    open: Option<Open>,
}

/// An open frame.
#[derive(Clone, Debug)]
struct Open {
    time: u32,
    first: Page,
    page: Page,
    pages: [Page; PAGES],
    next: usize,
    data: Vec<u8>,
}

impl Open {
    fn new(time: u32, first: Page) -> Open {
        let mut pages = [Page { file: u16::MAX, base: 1 }; PAGES];
        pages[0] = first;
        Open { time, first, page: first, pages, next: 1, data: Vec::new() }
    }

    /// Adds a statement, if the frame has room for one with only escaped bytes.
    fn push(&mut self, statement: Statement, room: usize) -> bool {
        if self.data.len() + 24 > room {
            return false;
        }
        if statement.file == VALUES {
            self.data.push(step::VALUE);
            value(statement.line).operands(|byte| self.data.push(byte));
            return true;
        }
        let page = Page::of(statement);
        if page != self.page {
            match self.pages.iter().position(|known| *known == page) {
                Some(number) => self.data.push(step::RECENT + number as u8),
                None => {
                    self.step(step::PAGE, &[self.next as u64, page.file.into(), page.base.into()]);
                    self.pages[self.next] = page;
                    self.next = (self.next + 1) % PAGES;
                }
            }
            self.page = page;
        }
        self.data.push(code(statement));
        true
    }

    fn step(&mut self, code: u8, numbers: &[u64]) {
        self.data.push(code);
        for number in numbers {
            digits(*number, |byte| self.data.push(byte));
        }
    }

    /// The frame without the bytes that closing adds.
    fn head(&self, seq: u8) -> Vec<u8> {
        let mut head = Vec::new();
        let (payload, len) = payload_head(self.time, self.first, 0);
        FrameWriter::new(seq, RECORD_BASE + ids::PACKED, |byte| head.push(byte))
            .bytes(&payload[..len])
            .finish();
        let sum = if head[head.len() - 3] == 0x7D { 2 } else { 1 };
        head.truncate(head.len() - sum - 1);
        assert!(head.len() <= MAX_HEADER);
        head
    }
}

impl Model {
    fn new(size: usize) -> Model {
        Model { size, written: Vec::new(), seq: 0, folded: 0, open: None }
    }

    fn room(&self) -> usize {
        MAX_DATA.min(self.size / 8)
    }

    fn head(&self) -> usize {
        self.written.len()
    }

    fn statement(&mut self, time: u32, statement: Statement) {
        let room = self.room();
        loop {
            let open = self.open.get_or_insert_with(|| Open::new(time, Page::of(statement)));
            if open.push(statement, room) {
                return;
            }
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        self.seq = self.seq.wrapping_add(1);
        if self.folded > 0 {
            open.step(step::REPEAT, &[1, std::mem::take(&mut self.folded)]);
        }
        let (head, len) = payload_head(open.time, open.first, open.data.len() as u8);
        let written = &mut self.written;
        FrameWriter::new(self.seq, RECORD_BASE + ids::PACKED, |byte| written.push(byte))
            .bytes(&head[..len])
            .bytes(&open.data)
            .finish();
    }

    fn state(&self) -> State {
        let state = State::closed(self.head() as u64, self.seq);
        self.open.as_ref().map_or(state, |open| state.with_open(open.head(self.seq.wrapping_add(1)).len()))
    }

    fn put(&self, ring: &mut [u8]) {
        let mut put = |at: usize, byte: u8| ring[at % self.size] = byte;
        for (at, byte) in self.written.iter().enumerate() {
            put(at, *byte);
        }
        if let Some(open) = &self.open {
            let head = open.head(self.seq.wrapping_add(1));
            for (at, byte) in head.iter().chain(&open.data).chain(&[0]).enumerate() {
                put(self.head() + at, *byte);
            }
        }
    }

    fn image(&self) -> Vec<u8> {
        let mut header = Vec::from(MAGIC);
        header.extend(BYTE_ORDER_MARK.to_ne_bytes());
        header.extend([LAYOUT_VERSION, 4, RECORD_BASE, Flags::PACKED.0]);
        header.extend((BARE_HEADER_LEN as u16).to_ne_bytes());
        header.extend([0; 2]);
        header.extend((self.size as u32).to_ne_bytes());
        header.extend([0; 12]);
        let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
        header.extend(check_word([word(8), word(12), word(16), word(20)]).to_ne_bytes());
        header.extend(self.state().0.to_ne_bytes());
        header.extend(Folded::new(self.head() as u64, self.folded).0.to_ne_bytes());
        header.resize(BARE_HEADER_LEN, 0);
        let mut ring = vec![0; self.size];
        self.put(&mut ring);
        header.extend(ring);
        header
    }
}

/// The items that a reader yields from an image.
#[derive(Debug, Default, PartialEq)]
struct Items {
    statements: Vec<Statement>,
    stamps: Vec<Option<u32>>,
    repetition: Vec<(usize, Repetition)>,
    /// Number of items that are not statements.
    losses: usize,
}

fn read(image: &[u8]) -> Items {
    let header = Header::parse(image).expect("a header");
    collect(&mut Reader::new(header, image))
}

fn collect(reader: &mut Reader<'_>) -> Items {
    let mut items = Items::default();
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, stamp) => {
                items.statements.push(statement);
                items.stamps.push(stamp);
            }
            Item::Value(found, stamp) if found == value((found.number - 1) as u16) => {
                items.statements.push(Statement { file: VALUES, line: (found.number - 1) as u16 });
                items.stamps.push(stamp);
            }
            Item::Repetition(repetition) => items.repetition.push((items.statements.len(), repetition)),
            _ => items.losses += 1,
        }
    }
    items
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    // Mostly near each other, as in a program.
    let near = (0u16..4, 0u16..400).prop_map(|(file, line)| Statement { file, line });
    let far = any::<u32>().prop_map(Statement::from_word);
    // Marks of tasks are no statements.
    let far = far.prop_filter("a source file", |far| !TaskMark::FILES.contains(&far.file));
    let values = (0u16..300).prop_map(|line| Statement { file: VALUES, line });
    vec(prop_oneof![8 => near, 1 => far, 2 => values], 1..2000)
}

/// Reads the items since `from` and `shown`, and moves these.
fn read_on(image: &[u8], from: &mut u64, shown: &mut Shown) -> Items {
    let mut reader = Reader::resume(Header::parse(image).expect("a header"), image, *from, 0, *shown);
    let items = collect(&mut reader);
    (*from, *shown) = (reader.resume_from(), reader.shown());
    items
}

#[test]
fn a_header_has_a_size_of_two_to_some_power_and_answers_by_its_flags() {
    let parsed = |size: usize| Header::parse(&Model::new(size).image());
    assert!(matches!(parsed(3000), Err(HeaderError::Size { size: 3000, .. })));
    let header = parsed(4096).expect("a header");
    let answers = |flags: Flags| {
        let mut header = header;
        header.flags = flags;
        [header.is_bare(), header.has_words(), header.has_entries_only(), header.has_values()]
    };
    assert_eq!(answers(Flags::PACKED), [true, false, false, false]);
    assert_eq!(answers(Flags::WORDS), [false, true, false, false]);
    assert_eq!(answers(Flags::ENTRIES), [true, false, true, false]);
    assert_eq!(answers(Flags::VALUES), [true, false, false, true]);
}

#[test]
fn a_mark_of_a_task_is_between_its_statements() {
    let mark = TaskMark { step: TaskStep::Enter, task: 77 };
    let near = [Statement { file: 1, line: 7 }, Statement { file: 1, line: 8 }];
    let mut model = Model::new(1 << 12);
    [near[0], mark.statement(), near[1]].iter().for_each(|statement| model.statement(0, *statement));
    let image = model.image();
    let mut reader = Reader::new(Header::parse(&image).expect("a header"), &image);
    let mut found = Vec::new();
    while let Some(item) = reader.next() {
        found.push(match item {
            Item::Statement(statement, _) => (statement, None),
            Item::Task(mark, _) => (mark.statement(), Some(mark)),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(found, [(near[0], None), (mark.statement(), Some(mark)), (near[1], None)]);
}

proptest! {
    // Each case reads a ring from its beginning up to 40 times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_resumed_reader_gives_each_statement_once(
        statements in statements(),
        looks in vec(1usize..300, 1..40),
        fold in any::<bool>(),
    ) {
        let mut model = Model::new(1 << 16);
        let (mut from, mut shown, mut items) = (0, Shown::default(), Items::default());
        let (mut rest, mut has_statement) = (&statements[..], false);
        for look in looks {
            let (now, later) = rest.split_at(look.min(rest.len()));
            rest = later;
            now.iter().for_each(|statement| model.statement(0, *statement));
            let new = read_on(&model.image(), &mut from, &mut shown);
            items.statements.extend(new.statements);
            items.losses += new.losses;
            // What was shown is not given again to a reader that starts with the oldest frame.
            prop_assert_eq!(read_on(&model.image(), &mut 0, &mut shown.clone()), Items::default());
            if fold {
                if let Some(open) = &model.open {
                    has_statement = open.data.iter().any(|byte| *byte >= step::STATEMENT);
                }
                model.close();
                model.folded += 2;
                let repetition = read_on(&model.image(), &mut from, &mut shown).repetition;
                // A repetition has only statements.
                let expected = if has_statement { &[2][..] } else { &[] };
                prop_assert_eq!(repetition.iter().map(|(_, repetition)| repetition.times).collect::<Vec<_>>(), expected);
                prop_assert_eq!(read_on(&model.image(), &mut from, &mut shown), Items::default());
            }
        }
        prop_assert_eq!((&items.statements[..], items.losses), (&statements[..statements.len() - rest.len()], 0));
    }

    #[test]
    fn statements_written_are_the_statements_read(statements in statements(), time: u32) {
        let mut model = Model::new(1 << 16);
        for statement in &statements {
            model.statement(time, *statement);
        }
        let items = read(&model.image());
        prop_assert_eq!(&items.statements, &statements);
        prop_assert_eq!(items.losses, 0);
        prop_assert_eq!(items.stamps[0], (time != 0).then_some(time));
    }

    #[test]
    fn a_ring_that_wrapped_holds_an_unbroken_end(statements in statements(), bits in 8u32..14) {
        let mut model = Model::new(1 << bits);
        for statement in &statements {
            model.statement(7, *statement);
        }
        let items = read(&model.image());
        prop_assert_eq!(items.losses, 0);
        prop_assert!(statements.ends_with(&items.statements));
        let lost = statements.len() - items.statements.len();
        prop_assert!(lost == 0 || model.head() > (1 << bits) - 2 * frame_room(1 << bits));
    }

    #[test]
    fn an_open_frame_is_read_at_every_byte(mut statements in statements()) {
        statements.truncate(150);
        let mut model = Model::new(1 << 16);
        for statement in &statements {
            model.statement(0, *statement);
        }
        let whole = model.open.clone().expect("a frame is open");
        let mut before = 0;
        for cut in 0..=whole.data.len() {
            model.open.as_mut().expect("a frame").data = whole.data[..cut].to_vec();
            let items = read(&model.image());
            prop_assert_eq!(items.losses, 0);
            prop_assert!(statements.starts_with(&items.statements), "cut at {}", cut);
            prop_assert!(items.statements.len() >= before);
            before = items.statements.len();
        }
        prop_assert_eq!(before, statements.len());
    }

    #[test]
    fn a_repetition_is_read_behind_its_frames(frame in vec(0u16..96, 1..60), times in 1u64..1 << 38, rest in vec(0u16..96, 0..9)) {
        let mut model = Model::new(4096);
        let all = |lines: &[u16]| lines.iter().map(|line| Statement { file: 1, line: *line }).collect::<Vec<_>>();
        all(&frame).into_iter().for_each(|statement| model.statement(0, statement));
        model.close();
        model.folded = times;
        let expected = vec![(frame.len(), Repetition::new(all(&frame).into_iter(), times).unwrap())];
        let items = read(&model.image());
        prop_assert_eq!((&items.repetition, items.statements.len(), items.losses), (&expected, frame.len(), 0));
        all(&rest).into_iter().for_each(|statement| model.statement(0, statement));
        let open = read(&model.image());
        prop_assert_eq!((&open.repetition, open.statements.len(), open.losses), (&expected, frame.len() + rest.len(), 0));
        model.close();
        let closed = read(&model.image());
        prop_assert!(rest.is_empty() || closed == open);
    }

    #[test]
    fn an_image_cut_short_gives_what_it_has(statements in statements(), cut: prop::sample::Index) {
        let mut model = Model::new(2048);
        for statement in &statements {
            model.statement(0, *statement);
        }
        let whole = read(&model.image()).statements;
        let image = model.image();
        let len = BARE_HEADER_LEN + cut.index(model.size);
        let items = read(&image[..len]);
        prop_assert!(items.statements.len() <= whole.len());
        let mut rest = whole.iter();
        prop_assert!(items.statements.iter().all(|statement| rest.any(|other| other == statement)));
    }

    #[test]
    fn any_bytes_are_valid_input(
        statements in statements(),
        words in vec((5usize..8, any::<u64>(), 0u32..64), 0..6),
        noise in vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        bits in 6u32..12,
    ) {
        let mut model = Model::new((1 << bits).max(256));
        statements.iter().for_each(|statement| model.statement(3, *statement));
        let mut image = model.image();
        for (word, value, shift) in words {
            image[8 * word..8 * word + 8].copy_from_slice(&(value >> shift).to_ne_bytes());
        }
        for (at, byte) in noise {
            let at = BARE_HEADER_LEN + at.index(model.size);
            image[at] = byte;
        }
        // Not more items than a ring can hold, and every step ends.
        let items = read(&image);
        prop_assert!(items.statements.len() <= 5 * model.size);
        prop_assert!(find(&image).count() >= 1);
    }

    #[test]
    fn any_data_is_walked_to_its_end(data: Vec<u8>, file: u16, base: u16) {
        let mut steps = Steps::new(Page { file, base });
        let mut at = 0;
        while steps.next(&data, &mut at).is_some() {}
        prop_assert_eq!(at, data.len());
        prop_assert!(Steps::written(&data) <= data.len());
    }

    #[test]
    fn numbers_need_no_escape_and_are_read_back(number: u64, shift in 0u32..64) {
        let number = number >> shift;
        let mut data = vec![step::TIME];
        digits(number, |byte| data.push(byte));
        prop_assert!(data[1..].iter().all(|byte| (1..=0x40).contains(byte)));
        let (mut steps, mut at) = (Steps::new(Page::default()), 0);
        prop_assert_eq!(steps.next(&data, &mut at), Some(qs_core::record::packed::Step::Time(number)));
        prop_assert_eq!(at, data.len());
    }
}

#[test]
fn a_page_covers_its_window_and_no_byte_needs_an_escape() {
    for line in 0..=u16::MAX {
        let statement = Statement { file: 1, line };
        let page = Page::of(statement);
        assert!(page.base <= line && line - page.base < WINDOW);
        assert_eq!(page.statement(code(statement)), Some(statement));
        assert!(code(statement) >= step::STATEMENT);
    }
}

/// A small program that runs on: near lines of a few files, sometimes a value.
fn some_statements(random: &mut impl FnMut(usize) -> usize) -> Vec<Statement> {
    let (mut statements, mut at) = (Vec::new(), Statement { file: 1, line: 40 });
    for _ in 0..100 + random(900) {
        match random(12) {
            0 => at = Statement { file: random(4) as u16, line: random(400) as u16 },
            1 => statements.push(Statement { file: VALUES, line: random(300) as u16 }),
            _ => at.line += random(3) as u16,
        }
        statements.push(at);
    }
    statements
}

/// Overwrites some bytes of the open frame from its head on, each by a byte of `with`. Returns the items before and after.
fn damaged(random: &mut impl FnMut(usize) -> usize, with: &[u8], most: usize) -> (Items, Items) {
    let mut model = Model::new(4096);
    some_statements(random).iter().for_each(|statement| model.statement(0, *statement));
    let open = model.open.as_ref().expect("a frame is open");
    let len = open.head(model.seq.wrapping_add(1)).len() + open.data.len();
    let mut image = model.image();
    let before = read(&image);
    let count = 1 + random(most.min(len));
    let first = model.head() + random(len - count + 1);
    for at in first..first + count {
        image[BARE_HEADER_LEN + at % model.size] = with[random(with.len())];
    }
    (before, read(&image))
}

fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

/// `docs/limits.md` has these shares.
#[test]
fn damage_of_an_open_frame_is_a_loss_unless_it_looks_like_steps() {
    const CASES: usize = 400;
    let mut random = random(1);
    let any: Vec<u8> = (0..=255).collect();
    for (with, most, percent) in [(&any[..], 1, 30), (&any, 8, 10), (b"text as in a log", 8, 5)] {
        let is_silent = |_: &usize| {
            let (before, after) = damaged(&mut random, with, most);
            after.losses == 0 && after != before
        };
        let silent = (0..CASES).filter(is_silent).count();
        assert!(silent * 100 <= CASES * percent, "{silent} of {CASES} with up to {most} bytes");
    }
}

#[test]
fn an_open_frame_goes_on_behind_damage_where_a_step_names_its_page() {
    let at = |file, line| Statement { file, line };
    let mut model = Model::new(4096);
    let all = [at(1, 5), at(1, 6), at(2, 7), at(2, 8)];
    all.iter().for_each(|statement| model.statement(0, *statement));
    let data = model.open.as_ref().expect("a frame").head(1).len();
    // The two statements of the first page, a step to a page with three numbers, and two statements.
    let items = |index: usize, byte: u8| {
        let mut image = model.image();
        image[BARE_HEADER_LEN + data + index] = byte;
        let mut reader = Reader::new(Header::parse(&image).expect("a header"), &image);
        let (mut lines, mut place) = (Vec::new(), None);
        while let Some(item) = reader.next() {
            match item {
                Item::Statement(statement, _) => lines.push(statement),
                Item::Damaged(damage) => place = Some((damage.offset as usize - data, damage.len)),
                other => panic!("{other:?}"),
            }
        }
        // A later look shows neither again.
        assert_eq!(read_on(&image, &mut 0, &mut reader.shown()), Items::default());
        let mut whole = Reader::new(*reader.header(), &image).whole_frames();
        let frame = whole.next();
        assert!(matches!(frame, Some(Item::Frame(frame)) if frame.seq == 1), "{frame:?}");
        assert_eq!(matches!(whole.next(), Some(Item::Damaged(_))), place.is_some());
        assert!(whole.next().is_none());
        (lines, place)
    };
    assert_eq!(items(0, code(all[0])), (all.to_vec(), None));
    // Not a step, one without operands, a page without a step to it, and an end without a checksum.
    for byte in [0x01, 0x40, 0x7E, step::INTERRUPT, step::VALUE, step::RECENT + 3, step::END, step::REPEAT] {
        assert_eq!(items(1, byte), ([&all[..1], &all[2..]].concat(), Some((1, 1))), "{byte:#x}");
    }
    assert_eq!(items(0, 0x33), (all[2..].to_vec(), Some((0, 2))));
    // A number that is no digit, one that goes on, and a page that no recorder chooses.
    for (index, byte) in [(3, 0x50), (4, 0xA0), (5, 0x02)] {
        assert_eq!(items(index, byte), (all[..2].to_vec(), Some((2, 6))), "{index}");
    }
    assert_eq!(items(2, step::SKIP), (all[..2].to_vec(), Some((3, 5))));
    // The head, where the number of the frame and the page are.
    for (index, byte) in [(0, 9), (9, 1)] {
        let mut image = model.image();
        image[BARE_HEADER_LEN + index] = byte;
        assert_eq!(read(&image), Items { losses: 1, ..Items::default() }, "{index}");
    }
}

/// Between its last statement and the next state word, a frame that is closed has its end.
#[test]
fn an_open_frame_that_is_being_closed_is_whole() {
    for folded in [0, 1, 1 << 31] {
        for extra in 0..=255 {
            let mut model = Model::new(4096);
            (0..3).for_each(|line| model.statement(0, Statement { file: 1, line: 40 + line }));
            let open = model.open.as_mut().expect("a frame");
            let data = open.head(1).len() + open.data.len();
            let mut end = vec![step::END];
            if folded > 0 {
                end.push(step::REPEAT);
                [1, folded].iter().for_each(|number| digits(*number, |byte| end.push(byte)));
            }
            qs_core::frame::escaped(extra, |byte| end.push(byte));
            end.push(qs_core::frame::FLAG);
            let mut image = model.image();
            image[BARE_HEADER_LEN + data..][..end.len()].copy_from_slice(&end);
            let items = read(&image);
            assert_eq!((items.statements.len(), items.losses), (3, 0), "{folded} {extra}");
        }
    }
}
