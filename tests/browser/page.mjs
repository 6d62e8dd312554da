// Drives a page of `xhist-report page` in a headless browser: `node page.mjs SCENE PAGE [ARGUMENT...]`.
// It prints what a scene found out, as JSON, and fails if the page reports an error or asks for anything but itself.
// XHIST_BROWSER is the browser, XHIST_NPM the directory with puppeteer-core.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = createRequire(`${process.env.XHIST_NPM}/`);
const { default: puppeteer } = await import(pathToFileURL(modules.resolve("puppeteer-core")));

const WIDE = { width: 1400, height: 860 };
const PHONE = { width: 390, height: 800, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const PATIENCE = 120_000;

// What the page shows.
const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
const step = (page) => page.evaluate(() => xhist.recording.number(xhist.at));
const rest = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const line = (page) => page.$eval("#source .line.here .no", (node) => Number(node.textContent));

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await rest(page);
}

async function type(page, selector, typed) {
  await page.click(selector, { count: 3 });
  await page.keyboard.type(typed);
  await page.keyboard.press("Enter");
  await page.evaluate(() => document.activeElement.blur());
  await rest(page);
}

const SCENES = {
  // The same with values of references: where the failing call has them from.
  async origins(page) {
    await press(page, "w");
    assert.match(await text(page, "#whole"), /origin of self.*argument self = Meter \{ sum: 0, count: 0 \}.*assigned self\.count/s);
    await page.evaluate(() => document.querySelector("#whole [data-step]").click());
    await rest(page);
    assert.match(await text(page, "#source .line.here code"), /meter\.mean\(\)/);
  },
  async returned(page) {
    await press(page, "i");
    assert.match(await text(page, "#whole"), /let twice = double\(21\);  \[twice = 42\].*→ double\(of = 21\)/s);
  },
  // The sample `meter`: the mean divides by zero. `[last, restart, division]` are a number and two lines.
  async steps(page, last, restart, division) {
    assert.match(await text(page, "#said"), /^Opened at a panic/);
    assert.equal(await step(page), Number(last));
    assert.equal(await line(page), Number(division));
    assert.equal(await text(page, "#frames .frame.here .fn"), "Meter::mean");
    assert.equal((await page.$$("#frames .frame")).length, 2);
    // Back by line over calls, to where the count became 0, and forward to the same place.
    const keys = await page.evaluate(() => [...document.querySelectorAll("#motions button")].map((button) => button.dataset.key));
    assert.deepEqual(keys, ["Home", "#", "F", "O", "S", "s", "o", "f", "*", "End", "x"]);
    await press(page, "S", "S", "S");
    assert.equal(await line(page), Number(restart));
    assert.match(await text(page, "#source .line.here code"), /self\.count = 0/);
    const before = await step(page);
    await press(page, "#");
    assert.ok(await step(page) < before, "the line ran before");
    assert.equal(await line(page), Number(restart));
    await press(page, "*");
    assert.equal(await step(page), before);
    await press(page, "S", "s", "ArrowUp", "ArrowDown");
    assert.equal(await step(page), before);
    await page.click('#motions button[data-key="F"]');
    await rest(page);
    assert.equal(await text(page, "#frames .frame.here .fn"), "Meter::take");
    await press(page, "End");
    assert.equal(await step(page), Number(last));
    await press(page, "o");
    assert.match(await text(page, "#said"), /the history ends here/);
    assert.equal(await step(page), Number(last));
    await press(page, "Home", "O");
    assert.match(await text(page, "#said"), /the history begins here/);
    // A number, a click in the history, a call of the tree, a frame of the stack.
    await type(page, "#number", "7");
    assert.equal(await step(page), 7);
    await page.evaluate(() => document.querySelectorAll("#history .row")[3].click());
    await rest(page);
    assert.equal(await step(page), 4);
    const call = await page.evaluate(() => {
      const row = [...document.querySelectorAll("#calls .row")].find((row) => row.textContent.includes("Meter::add"));
      row.click();
      return Number(row.querySelector(".no").textContent);
    });
    await rest(page);
    assert.equal(await step(page), call);
    await press(page, "[");
    assert.equal(await text(page, "#frames .frame.here .fn"), "Meter::take");
    assert.equal(await step(page), call, "a frame does not move");
    // A fold hides the calls inside, and a second click shows them.
    const calls = () => page.evaluate(() => xhist.calls.visible.length);
    const all = await calls();
    await page.click("#calls .row .fold");
    await rest(page);
    assert.equal(await calls(), 1);
    await page.click("#calls .row .fold");
    assert.equal(await calls(), all);
    // Values beside the line and in their pane.
    await press(page, "x", "O", "O");
    assert.ok((await text(page, "#variables")).includes("meter"), await text(page, "#variables"));
    assert.match(await text(page, "#source .list"), /meter = Meter/);
    await press(page, "O");
    assert.equal(await text(page, "#frames .frame.here .fn"), "main", "back over the call");
    // The whole call, whose rows lead to their steps, and where its values come from.
    await press(page, "i");
    assert.match(await text(page, "#whole"), /^main.*→ Meter::take.*→ Meter::mean.*— stdout: mean 22/s);
    await page.evaluate(() => document.querySelector("#whole [data-step]").click());
    await rest(page);
    assert.equal(await step(page), 1);
    await press(page, "w");
    assert.match(await text(page, "#said"), /cargo xhist origin .*@1$/);
    await press(page, "x", "w");
    assert.match(await text(page, "#said"), /^No value of this call is recorded/, "a reference has no bytes");
    // Help lists every key, and the theme turns.
    await press(page, "?");
    const help = await text(page, "#help");
    for (const key of keys) assert.ok(help.includes(key), key);
    await press(page, "Escape");
    const paper = () => page.evaluate(() => getComputedStyle(document.body).getPropertyValue("--paper"));
    const light = await paper();
    await press(page, "t");
    assert.notEqual(await paper(), light);
  },

  async search(page) {
    const hits = async () => {
      await page.waitForFunction(() => document.querySelector("#hits").textContent !== "");
      await new Promise((done) => setTimeout(done, 250));
      return text(page, "#hits");
    };
    await press(page, "Home");
    await type(page, "#query", "restart");
    const first = await step(page);
    assert.match(await hits(), /^1 of \d+ hits$/);
    await press(page, "n");
    assert.ok(await step(page) > first);
    await press(page, "N");
    assert.equal(await step(page), first);
    await press(page, "N");
    assert.match(await text(page, "#said"), /went on at the end/);
    await page.select("#scope", "function");
    await type(page, "#query", "meter::mean");
    assert.equal(await text(page, "#frames .frame.here .fn"), "Meter::mean");
    await page.select("#scope", "file");
    await type(page, "#query", "main.rs:14");
    assert.equal(await line(page), 14);
    await page.select("#scope", "value");
    await type(page, "#query", "panicked");
    assert.match(await text(page, "#said"), /panicked/);
    await page.select("#scope", "text");
    await type(page, "#query", "no such text");
    assert.match(await text(page, "#said"), /nothing has/);
  },

  async timeline(page) {
    const box = await (await page.$("#chart")).boundingBox();
    const last = await step(page);
    await page.mouse.click(box.x + 150 + (box.width - 150) / 2, box.y + 10);
    await rest(page);
    const middle = await step(page);
    assert.ok(middle > 1 && middle < last, `${middle} of ${last}`);
    const axis = await text(page, "#axis");
    await press(page, "+");
    assert.notEqual(await text(page, "#axis"), axis);
    await press(page, "0");
    assert.equal(await text(page, "#axis"), axis);
    // Something is drawn in the colour of calls, not only paper.
    const colours = await page.evaluate(() => {
      const canvas = document.querySelector("#chart canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
    assert.ok(colours > 4, `${colours} colours`);
  },

  // A link opens its moment, and the address follows the position.
  async link(page, url) {
    await page.goto(`${url}#s=9`);
    await page.reload();
    await page.waitForSelector("body[data-ready='1']");
    assert.equal(await step(page), 9);
    assert.match(await text(page, "#said"), /as the link says/);
    // An address that is written later leaves a link alone whose event has not come yet.
    const kept = await page.evaluate(() => {
      const { setTimeout } = window;
      let late;
      window.setTimeout = (write) => { late = write; };
      xhist.go(xhist.recording.byNumber(10));
      window.setTimeout = setTimeout;
      location.hash = "#s=9";
      location.hash = "#s=11";
      late();
      return location.hash;
    });
    assert.equal(kept, "#s=11");
    await page.waitForFunction(() => xhist.recording.number(xhist.at) === 11);
    await press(page, "s");
    await page.waitForFunction((at) => location.hash === `#s=${at}`, {}, await step(page));
    await page.evaluate(() => { location.hash = "#s=12"; });
    await page.waitForFunction(() => xhist.recording.number(xhist.at) === 12);
    await press(page, "End");
    await page.goBack();
    await page.waitForFunction(() => xhist.recording.number(xhist.at) === 12);
  },

  async phone(page) {
    await page.setViewport(PHONE);
    await rest(page);
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide[0] <= wide[1], `${wide}`);
    const inSight = (selector) => page.$eval(selector, (node) => node.checkVisibility() && node.getBoundingClientRect().width > 300);
    assert.ok(await inSight("#source") && await inSight("#history") && !(await inSight("#stack")));
    for (const pane of ["stack", "lanes", "calls", "events", "about", "history"]) {
      await page.tap(`#tab-${pane}`);
      await rest(page);
      assert.ok(await inSight(`#${pane}`), pane);
      const open = await page.$$eval(".pane", (nodes) => nodes.filter((node) => node.checkVisibility()).map((node) => node.id));
      assert.deepEqual(open, [pane]);
    }
    const before = await step(page);
    await page.tap('#motions button[data-key="S"]');
    await rest(page);
    assert.ok(await step(page) < before);
    const low = await page.$$eval("#motions button", (nodes) => Math.min(...nodes.map((node) => node.getBoundingClientRect().height)));
    assert.ok(low >= 40, "a thumb hits a button");
  },

  // Millions of entries: `[count]`. Prints milliseconds.
  async large(page, count) {
    const numbers = {};
    numbers.open = await page.evaluate(() => performance.getEntriesByName("ready")[0].startTime);
    assert.equal(await page.evaluate(() => xhist.recording.length), Number(count));
    const first = () => page.evaluate(() => Number(document.querySelector("#history .row").querySelector(".no").textContent.replaceAll(",", "")));
    // The bar jumps, the wheel moves by rows.
    numbers.scroll = await page.evaluate(async () => {
      const box = document.querySelector("#history .list"), gaps = [];
      let before = performance.now();
      for (let frame = 0; frame < 120; frame++) {
        box.scrollTop = (frame / 120) * box.scrollHeight;
        await new Promise(requestAnimationFrame);
        gaps.push(performance.now() - before);
        before = performance.now();
      }
      return Math.max(...gaps.slice(5));
    });
    await page.evaluate(() => xhist.history.list.moveTo(50_000_000));
    await rest(page);
    const box = await (await page.$("#history .list")).boundingBox();
    await page.mouse.move(box.x + 50, box.y + 50);
    const from = await first();
    await page.mouse.wheel({ deltaY: 200 });
    await page.waitForFunction((from) => xhist.history.list.top !== (from - 1) * 20, {}, from);
    await rest(page);
    assert.equal(await first(), from + 10, "ten rows of the wheel are ten rows");
    await press(page, "End");
    assert.equal(await step(page), Number(count));
    assert.ok(await page.evaluate(() => [...document.querySelectorAll("#history .row.here")].some((row) => !row.hidden)));
    await type(page, "#number", "3141592");
    assert.equal(await step(page), 3141592);
    await press(page, "Home");
    assert.equal(await step(page), 1);
    assert.equal(await first(), 1);
    // Motions and search over all of it.
    numbers.line = await page.evaluate(() => { const start = performance.now(); xhist.move("line", 1); return performance.now() - start; });
    numbers.search = await page.evaluate(() => {
      const start = performance.now();
      document.querySelector("#query").value = "the last";
      xhist.search.next(1);
      return performance.now() - start;
    });
    numbers.draw = await page.evaluate(() => { const start = performance.now(); xhist.drawNow(); xhist.lanes.drawNow(); return performance.now() - start; });
    return numbers;
  },

  // What came from a dump is text wherever it is shown.
  async hostile(page, sign) {
    for (const tab of await page.$$eval("#tabs button:not(.narrow)", (nodes) => nodes.map((node) => node.id))) {
      await page.click(`#${tab}`);
      await rest(page);
    }
    await press(page, "Home", "s", "s", "s", "End", "?", "Escape");
    await type(page, "#query", "<img");
    await new Promise((done) => setTimeout(done, 300));
    for (const pane of ["history", "source", "frames", "variables", "calls", "events", "suspects", "diff", "about", "message"]) {
      assert.ok((await text(page, `#${pane}`)).includes(sign), `${pane} shows it`);
    }
    assert.equal(await page.evaluate(() => window.hostile), undefined);
    assert.deepEqual(await page.$$eval("img, iframe, object, svg, a, link, script[src]", (nodes) => nodes.map((node) => node.outerHTML)), []);
  },

  async empty(page) {
    assert.match(await text(page, "body"), /This history has no entries/);
  },

  // The text in sight, before any key or click.
  async seen(page) {
    return page.evaluate(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
      let seen = "";
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        range.selectNodeContents(node);
        const box = range.getClientRects()[0];
        const top = box && document.elementFromPoint(box.left + 1, (box.top + box.bottom) / 2);
        if (top && (top.contains(node) || node.parentElement.contains(top))) seen += node.data;
      }
      return seen;
    });
  },

  // Suspects, diff and how it failed.
  async evidence(page, place, failed) {
    assert.ok((await text(page, "#message")).includes(failed));
    const first = await page.$eval("#suspects .suspect-row .place", (node) => node.textContent);
    assert.equal(first, place);
    await page.click("#suspects .suspect-row");
    await rest(page);
    assert.equal(await line(page), Number(place.split(":")[1]));
    await page.click("#tab-diff");
    assert.ok((await text(page, "#diff")).length > 40);
  },

  // Every motion from every step, for a comparison with the same in Rust.
  async motions(page) {
    return page.evaluate(() => {
      const { recording, cursor } = xhist, found = [];
      for (let step = 0; step < recording.length; step++) {
        const of = (motion, way) => cursor[motion](step, way);
        const motions = ["step", "into", "over", "out", "line"].flatMap((motion) => [of(motion, 1), of(motion, -1)]);
        const values = recording.variables(recording.callAt(step), step).map((value) => recording.valueText(value));
        found.push([motions, recording.number(step), recording.byNumber(step), recording.siteAt(step), recording.taskAt(step),
          recording.stackAt(step).map((frame) => [frame.call, frame.site, frame.fn]), values, recording.isUncertain(step)]);
      }
      return found;
    });
  },

  // Pictures for the documentation.
  async picture(page, file, width, height, theme, ...keys) {
    await page.setViewport({ width: Number(width), height: Number(height), deviceScaleFactor: 1 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    await press(page, ...keys);
    await new Promise((done) => setTimeout(done, 400));
    await page.screenshot({ path: file, type: "webp", quality: 80 });
  },
};

const [scene, url, ...more] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath: process.env.XHIST_BROWSER,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
  protocolTimeout: 4 * PATIENCE,
});
try {
  const page = await browser.newPage(), wrong = [];
  page.setDefaultTimeout(PATIENCE);
  const whole = pathToFileURL(url).href;
  page.on("request", (request) => { if (request.url().split("#")[0] !== whole) wrong.push(`request: ${request.url()}`); });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => { if (message.type() === "error") wrong.push(`console: ${message.text()}`); });
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.setViewport(WIDE);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  assert.ok(!/https?:/.test(readFileSync(url, "utf8").replaceAll(/<script type="application.*/g, "")), "the page names no address");
  await page.goto(whole);
  await page.waitForSelector("body[data-ready]");
  assert.equal(await page.$eval("body", (body) => body.dataset.ready), "1");
  const found = await SCENES[scene](page, ...(scene === "link" ? [whole] : more));
  await rest(page);
  assert.deepEqual(wrong, []);
  console.log(JSON.stringify(found ?? "ok"));
} finally {
  await browser.close();
}
