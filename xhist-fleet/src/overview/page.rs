//! The page itself: HTML without a script. What comes from dumps is escaped.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::collect::{GroupFacts, Overview};

/// The head of each page: nothing is loaded, and no script runs.
pub const HEAD: &str = include_str!("head.html");

/// The page. `files` is the directory of histories.
pub fn page(overview: &Overview, files: &str) -> String {
    let [rings, bad, groups] = overview.totals;
    let mut page = format!("{HEAD}<title>xhist fleet</title><h1>{groups} groups of {bad} bad dumps</h1>");
    let _ = write!(page, "<p>{rings} dumps in all.</p><table><tr><th>build<th>dumps<th>bad");
    for (build, rings, bad) in &overview.builds {
        let _ = write!(page, "<tr><td>{}<td class=n>{rings}<td class=n>{bad}", escape(build));
    }
    page.push_str("</table>");
    for group in &overview.groups {
        add_group(&mut page, group, overview, files);
    }
    let more = groups - overview.groups.len() as i64;
    if more > 0 {
        let _ = write!(page, "<p>{more} more groups: <code>xhist-fleet overview --limit N</code></p>");
    }
    page
}

fn add_group(page: &mut String, group: &GroupFacts, overview: &Overview, files: &str) {
    let GroupFacts { title, place, stack, rings, devices, .. } = group;
    let _ = write!(
        page,
        "<details id=\"g{}\"><summary><b>{rings}</b>{} <span class=dim>{}</span></summary>",
        group.signature,
        escape(title),
        escape(place)
    );
    let _ =
        write!(page, "<p>{rings} dumps on {devices} devices. Open calls: <code>{}</code></p>", escape(stack));
    let builds: Vec<&str> = overview.builds.iter().map(|(build, ..)| build.as_str()).collect();
    add_bars(page, "builds", &builds, &group.by_build);
    let days: Vec<&str> = overview.days.iter().map(String::as_str).collect();
    add_bars(page, "days", &days, &group.by_day);
    if !group.suspects.is_empty() {
        page.push_str("<table><tr><th>suspect<th>score<th>bad<th>good");
        for (place, score, bad, good) in &group.suspects {
            let place = escape(place);
            let _ = write!(
                page,
                "<tr><td class=file>{place}<td class=n>{score:.2}<td class=n>{bad}<td class=n>{good}"
            );
        }
        page.push_str("</table>");
    }
    let _ = write!(
        page,
        "<p><a href=\"{}/{}.html\">history of the newest dump</a> <span class=dim>{}</span></p></details>",
        escape(files),
        group.example,
        escape(&group.source)
    );
}

/// A bar for each name, with its number.
fn add_bars(page: &mut String, what: &str, names: &[&str], counts: &BTreeMap<String, i64>) {
    let most = counts.values().copied().max().unwrap_or(0).max(1);
    let _ = write!(page, "<div class=dim>{what}</div><div class=bars>");
    for name in names {
        let count = counts.get(*name).copied().unwrap_or(0);
        let _ = write!(
            page,
            "<i title=\"{}: {count}\" style=\"height:{}%\"></i>",
            escape(name),
            100 * count / most
        );
    }
    page.push_str("</div>");
}

/// Text in HTML, also in an attribute with quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_dumps_are_escaped() {
        let group = GroupFacts { title: "<script>alert(1)</script>".to_owned(), ..GroupFacts::default() };
        let overview = Overview { groups: vec![group], ..Overview::default() };
        let page = page(&overview, "x\"y");
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;") && page.contains("x&quot;y/"));
    }
}
