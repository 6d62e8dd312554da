//! A terminal's screen as an SVG picture: text and colours as programs wrote them.

use std::fmt::Write as _;

/// Columns of the terminal: longer lines go on in the next row.
const COLUMNS: usize = 96;

/// Size of a character, in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: usize = 19;

/// Space around the text, and the room of the title bar above it.
const MARGIN: usize = 16;
const TITLE: usize = 34;

/// How the picture looks: a class for each style of a terminal that our tools use.
const STYLES: &str = "\
text{white-space:pre;font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d6deeb}
.prompt{fill:#7fdbca;font-weight:bold}.bold{font-weight:bold}.dim{fill:#8a96a8}
.red{fill:#ff6b6b}.green{fill:#7ec699}.yellow{fill:#e6c07b}.blue{fill:#82aaff}.magenta{fill:#c792ea}.cyan{fill:#56b6c2}";

/// Text in one style: the names of its classes, separated by blanks.
struct Span {
    text: String,
    classes: String,
}

/// The lines on a terminal.
#[derive(Default)]
pub struct Screen {
    lines: Vec<Vec<Span>>,
}

impl Screen {
    /// A line that a user typed behind the prompt.
    pub fn type_command(&mut self, command: &str) {
        let prompt = Span { text: "$ ".to_owned(), classes: "prompt".to_owned() };
        self.lines.push(vec![prompt, Span { text: command.to_owned(), classes: "bold".to_owned() }]);
    }

    /// What a program wrote to the terminal. Of its escape sequences only colours and styles have an effect.
    pub fn print(&mut self, output: &str) {
        let mut style = Style::default();
        for line in output.trim_end().lines() {
            let mut spans = Vec::new();
            let mut parts = line.trim_end_matches('\r').split("\u{1b}[");
            push(&mut spans, parts.next().unwrap_or_default(), &style);
            for part in parts {
                let end = part.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(0);
                if part[end..].starts_with('m') {
                    style.change(&part[..end]);
                }
                push(&mut spans, part.get(end + 1..).unwrap_or_default(), &style);
            }
            self.lines.extend(wrapped(spans));
        }
    }

    /// The picture.
    pub fn svg(&self, title: &str) -> String {
        let width = (COLUMNS as f64 * WIDTH) as usize + 2 * MARGIN;
        let height = self.lines.len() * HEIGHT + TITLE + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<style>\n{STYLES}\n</style>\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1b2330\"/>\n"
        );
        for (at, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
            writeln!(svg, "<circle cx=\"{}\" cy=\"17\" r=\"5\" fill=\"{colour}\"/>", 20 + 18 * at)
                .expect("a string");
        }
        for (row, spans) in self.lines.iter().enumerate() {
            let y = TITLE + (row + 1) * HEIGHT - 5;
            let length = spans.iter().map(|span| span.text.chars().count()).sum::<usize>() as f64 * WIDTH;
            if spans.is_empty() {
                continue;
            }
            let spans: String = spans.iter().map(tspan).collect();
            writeln!(
                svg,
                "<text xml:space=\"preserve\" x=\"{MARGIN}\" y=\"{y}\" textLength=\"{length:.1}\">{spans}</text>"
            )
            .expect("a string");
        }
        svg + "</svg>\n"
    }
}

/// The text in a picture, line by line.
pub fn text_of_svg(svg: &str) -> String {
    let lines = svg.lines().filter(|line| line.starts_with("<text "));
    let text = lines.map(|line| {
        let outside = line.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
        outside.collect::<String>() + "\n"
    });
    text.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn tspan(span: &Span) -> String {
    let text = span.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    match span.classes.as_str() {
        "" => text,
        classes => format!("<tspan class=\"{classes}\">{text}</tspan>"),
    }
}

fn push(spans: &mut Vec<Span>, text: &str, style: &Style) {
    if !text.is_empty() {
        spans.push(Span { text: text.to_owned(), classes: style.classes() });
    }
}

/// Rows of at most [`COLUMNS`] characters.
fn wrapped(spans: Vec<Span>) -> Vec<Vec<Span>> {
    let (mut rows, mut column) = (vec![Vec::new()], 0);
    for span in spans {
        let mut characters: Vec<char> = span.text.chars().collect();
        while !characters.is_empty() {
            if column == COLUMNS {
                rows.push(Vec::new());
                column = 0;
            }
            let rest = characters.split_off(characters.len().min(COLUMNS - column));
            column += characters.len();
            let row = rows.last_mut().expect("there is a row");
            row.push(Span { text: characters.into_iter().collect(), classes: span.classes.clone() });
            characters = rest;
        }
    }
    rows
}

/// What the escape sequences so far say of the text that follows.
#[derive(Default)]
struct Style {
    bold: bool,
    dim: bool,
    colour: &'static str,
}

impl Style {
    /// Parameters of an SGR sequence, the text between `ESC [` and `m`.
    fn change(&mut self, parameters: &str) {
        const COLOURS: [&str; 8] = ["", "red", "green", "yellow", "blue", "magenta", "cyan", ""];
        for parameter in parameters.split(';') {
            match parameter.parse::<usize>().unwrap_or(0) {
                0 => *self = Style::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                code @ (30..=37 | 90..=97) => self.colour = COLOURS[code % 10],
                39 => self.colour = "",
                _ => {}
            }
        }
    }

    fn classes(&self) -> String {
        let names = [self.colour, if self.bold { "bold" } else { "" }, if self.dim { "dim" } else { "" }];
        names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
