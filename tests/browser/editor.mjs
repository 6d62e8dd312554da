// Starts VS Code in a headless browser with our extension, opens the history of a project and steps back in it:
// `node editor.mjs PROJECT DATA PICTURE STEPS`. DATA is an empty directory for what the editor writes. It prints, as JSON,
// the top frame at the first stop and after each step back, then the local variables and the windows of errors.
// XHIST_BROWSER is the browser, XHIST_NPM the directory with puppeteer-core, XHIST_EDITOR that of the editor's server,
// XHIST_EXTENSION that of our extension.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [project, data, picture, steps] = process.argv.slice(2);
const { XHIST_BROWSER, XHIST_EDITOR, XHIST_EXTENSION, XHIST_NPM } = process.env;
const modules = createRequire(`${XHIST_NPM}/`);
const { default: puppeteer } = await import(pathToFileURL(modules.resolve("puppeteer-core")));
const PATIENCE = 60_000;

/** The server, and its address when it listens. */
async function start() {
  const extensions = path.join(data, "extensions");
  mkdirSync(extensions, { recursive: true });
  symlinkSync(XHIST_EXTENSION, path.join(extensions, "xhist-0.1.0"));
  const server = spawn(
    process.execPath,
    [
      path.join(XHIST_EDITOR, "out/server-main.js"),
      ...["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms"],
      ...["--extensions-dir", extensions, "--server-data-dir", path.join(data, "server"), "--telemetry-level", "off"],
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  let said = "";
  const address = new Promise((resolve, reject) => {
    server.stdout.on("data", (text) => {
      said += text;
      const port = /listening on (\d+)/.exec(said);
      if (port) resolve(`http://127.0.0.1:${port[1]}/`);
    });
    server.on("exit", (code) => reject(new Error(`the editor's server ended with ${code}: ${said}`)));
  });
  return { server, address: await address };
}

/** Function, file and line of the newest call that the editor shows. */
const top = (page) =>
  page.$eval(".debug-call-stack .stack-frame", (frame) => {
    const text = (selector) => frame.querySelector(selector)?.textContent.trim() ?? "";
    return `${text(".label")} ${text(".file-name")}:${text(".line-number").split(":")[0]}`;
  });

/** Presses a button in the page's own turn: the editor draws its toolbar again at any time, and an element of before is dead. */
const press = (page, selector) =>
  page.waitForFunction((of) => {
    const button = document.querySelector(of);
    button?.click();
    return Boolean(button);
  }, {}, selector);

/** Waits until a value changes, and returns it. */
async function changed(read, before) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    const now = await read().catch(() => before);
    if (now !== before) return now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`still ${before}`);
}

const { server, address } = await start();
const browser = await puppeteer.launch({
  executablePath: XHIST_BROWSER,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.setViewport({ width: 1280, height: 760 });
  await page.goto(`${address}?folder=${encodeURIComponent(project)}`);
  // "Do you trust the authors of the files in this folder?"
  await page.waitForSelector(".monaco-dialog-box .monaco-button");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".monaco-dialog-box", { hidden: true });
  await page.waitForSelector(".explorer-folders-view .monaco-list-row");
  // The key does nothing before the extension is loaded.
  for (let tries = 0; tries < 10 && !(await page.$(".debug-toolbar")); tries++) {
    await page.keyboard.press("F5");
    await page.waitForSelector(".debug-toolbar", { timeout: 4000 }).catch(() => {});
  }
  await page.waitForSelector(".debug-call-stack .stack-frame");
  const frames = [await changed(() => top(page), "")];
  for (let step = 0; step < Number(steps); step++) {
    await press(page, ".debug-toolbar .codicon-debug-step-back:not(.disabled)");
    frames.push(await changed(() => top(page), frames.at(-1)));
  }
  await page.waitForSelector(".debug-variables .expression");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const variables = await page.$$eval(".debug-variables .expression", (all) => all.map((one) => one.textContent.trim()));
  await page.screenshot({ path: picture, type: "webp", quality: 80 });
  const windows = await page.$$eval(".notification-toast", (all) => all.map((one) => one.textContent.trim()));
  console.log(JSON.stringify({ frames, variables, windows }));
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill();
}
