// Reads the blocks of the page: base64, deflated, differences as variable-length numbers.
const blocks = new Map();
for (const script of document.querySelectorAll("script[data-block]")) {
  const name = script.dataset.block;
  if (!blocks.has(name)) blocks.set(name, []);
  blocks.get(name).push(script);
}

// The bytes of a block. Its text is dropped.
async function bytesOf(script) {
  const text = script.textContent;
  script.remove();
  const packed = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const inflated = new Response(packed).body.pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

// Fills `numbers` from `at` on.
function readNumbers(bytes, numbers, at, count) {
  let before = 0, place = 0;
  for (let end = at + count; at < end; at++) {
    let byte = bytes[place++];
    let number = byte & 0x7f;
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      byte = bytes[place++];
      number += (byte & 0x7f) * scale;
    }
    before += number % 2 === 0 ? number / 2 : -(number + 1) / 2;
    numbers[at] = before;
  }
}

// A column of numbers, in an array of this kind.
async function column(name, Numbers = Int32Array) {
  const scripts = blocks.get(name) ?? [];
  const counts = scripts.map((script) => Number(script.dataset.count));
  const numbers = new Numbers(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const [index, script] of scripts.entries()) {
    readNumbers(await bytesOf(script), numbers, at, counts[index]);
    at += counts[index];
  }
  return numbers;
}

// The parts of a table.
async function parts(name) {
  const all = [];
  for (const script of blocks.get(name) ?? []) all.push(JSON.parse(new TextDecoder().decode(await bytesOf(script))));
  return all;
}
