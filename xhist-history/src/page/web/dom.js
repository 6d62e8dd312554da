// Small helpers. Text gets into the page as text, never as markup.
const byId = (id) => document.getElementById(id);

function element(tag, name = "", ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
}

// Writes texts into the children of an element that is used again.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const grouped = new Intl.NumberFormat("en-US");
const shown = (number) => grouped.format(number);
const plural = (number, what) => `${shown(number)} ${what}${number === 1 ? "" : "s"}`;

// 950, 12k, 3.4M: for the narrow column beside source lines.
function brief(number) {
  if (number < 1000) return String(number);
  const [scale, unit] = number < 1e6 ? [1e3, "k"] : [1e6, "M"];
  const value = number / scale;
  return (value < 10 ? value.toFixed(1) : String(Math.floor(value))) + unit;
}

function duration(ns) {
  if (ns < 0) return "";
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(2)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(3)} ms`;
  return `${(ns / 1e9).toFixed(6)} s`;
}

// A colour of a name, the same in both themes.
function hue(text) {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) >>> 0;
  return hash % 360;
}

// Colours of lanes, easy to tell apart.
const LANE_HUES = [212, 30, 145, 280, 350, 185, 60, 320];
const laneHue = (lane) => LANE_HUES[lane % LANE_HUES.length];

// The last part of a path.
const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);

function emptyState(text) { return element("p", "empty", text); }
