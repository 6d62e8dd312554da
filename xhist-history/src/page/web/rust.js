// Colours of source text: words, strings, numbers, comments.
const WORDS = new Set(("as async await box break const continue crate dyn else enum extern false fn for if impl in let loop match mod move " +
  "mut pub ref return self Self static struct super trait true type unsafe use where while yield").split(" "));
const TOKEN = new RegExp([
  "(?<comment>//.*|/\\*.*?(?:\\*/|$))",
  "(?<string>b?r(#*)\"[^]*?(?:\"\\2|$)|[bc]?\"(?:\\\\.|[^\"\\\\])*(?:\"|$)|b?'(?:\\\\[^']+|[^'\\\\])')",
  "(?<number>\\b\\d[\\w.]*\\b)",
  "(?<macro>\\b[a-z_]\\w*!(?=\\s*[([{]))",
  "(?<type>\\b[A-Z]\\w*)",
  "(?<word>\\b[a-z_]\\w*\\b)",
].join("|"), "g");

// The text as parts `[kind, text]`; the kind is empty for plain text.
function rustParts(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    if (kind === "word" && !WORDS.has(match[0])) continue;
    if (match.index > at) found.push(["", text.slice(at, match.index)]);
    found.push([kind, match[0]]);
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push(["", text.slice(at)]);
  return found;
}

// Puts coloured text into a node; the characters `[from, to)` are marked. Very long lines stay plain.
function paint(node, text, from = 0, to = 0) {
  const parts = text.length < 2000 ? rustParts(text) : [["", text]];
  const made = [];
  let at = 0;
  for (const [kind, part] of parts) {
    const cuts = [0, from - at, to - at, part.length].map((cut) => Math.max(0, Math.min(cut, part.length)));
    for (let cut = 0; cut < 3; cut++) {
      const piece = part.slice(cuts[cut], cuts[cut + 1]);
      if (piece) made.push(element("span", (kind ? `t-${kind}` : "") + (cut === 1 ? " now" : ""), piece));
    }
    at += part.length;
  }
  node.replaceChildren(...made);
}
