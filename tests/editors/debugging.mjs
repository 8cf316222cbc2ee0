// The debugger in VS Code's editor: `node debugging.mjs ADDRESS FOLDER PICTURES CHROMIUM` opens
// wrong_shift.s of a folder in a code-server, plays the story of docs/debugging-story.md by mouse and
// keyboard, writes pictures, and prints what the page shows, as JSON. Run by debugging.py.
import fs from "fs";
import { createRequire } from "module";

const require = createRequire(process.cwd() + "/");
const { chromium } = require("playwright-core");
const [address, folder, pictures, executablePath] = process.argv.slice(2);
const host = new URL(address).host;
const payload = JSON.stringify([["openFile", `vscode-remote://${host}${folder}/wrong_shift.s`]]);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-lcd-text"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 780 } });
page.setDefaultTimeout(120000); // other programs may keep the machine busy
const shown = {};
const plain = (text) => text.replace(/[\s\u00a0\u200a]+/g, " ").trim();

// Write a PNG with eight levels of each colour, which is a quarter smaller and looks the same.
async function write(name, data) {
  const blank = await browser.newPage();
  const url = await blank.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: image.width, height: image.height });
    const context = canvas.getContext("2d", { alpha: false });
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height);
    pixels.data.forEach((value, at) => {
      pixels.data[at] = Math.round((Math.round((value * 7) / 255) * 255) / 7);
    });
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL("image/png");
  }, data.toString("base64"));
  await blank.close();
  fs.writeFileSync(`${pictures}/${name}.png`, Buffer.from(url.split(",")[1], "base64"));
}

async function picture(name, more = {}) {
  await page.mouse.move(700, 400);
  await page.waitForTimeout(700); // what hovers goes
  await write(name, await page.screenshot(more));
}

// Wait for a stop: the cursor goes to its line, and the call stack says why.
async function stop(line, reason) {
  await page.waitForFunction(
    ([line, reason]) => {
      const at = document.querySelector("#status\\.editor\\.selection")?.textContent ?? "";
      const pane = document.querySelector(".debug-call-stack")?.closest(".pane")?.textContent ?? "";
      return at.startsWith(`Ln ${line},`) && pane.toLowerCase().includes(reason);
    },
    [line, reason],
  );
  await page.waitForTimeout(500); // variables and views follow
}

async function press(button) {
  await page.click(`.debug-toolbar .codicon-debug-${button}`);
}

// Execute a command of the palette.
async function palette(name) {
  await page.keyboard.press("F1");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(name);
  await page.waitForTimeout(1000);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(1000);
}

async function goToLine(line) {
  await page.click(".editor-instance .view-lines");
  await page.keyboard.press("Control+g");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(`${line}`);
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    (line) => document.querySelector("#status\\.editor\\.selection").textContent.startsWith(`Ln ${line},`),
    line,
  );
}

// The last entry of the console. The list draws only the rows that are in sight.
function lastEntry() {
  const rows = [...document.querySelectorAll(".repl-tree .monaco-list-row")];
  const row = rows.at(-1)?.cloneNode(true);
  row?.querySelector(".count-badge-wrapper")?.remove();
  return row ? row.textContent.replace(/[\s\u00a0]+/g, " ").trim() : "";
}

// Type a command into the console; return the answer, once it is there.
async function say(line) {
  const before = await page.evaluate(lastEntry);
  for (let tries = 0; tries < 20; tries++) {
    await page.click(".repl-input-wrapper .view-lines");
    await page.waitForTimeout(200); // a stop may still move the focus to the editor
    if (await page.evaluate(() => document.activeElement.closest(".repl-input-wrapper") !== null)) {
      break;
    }
  }
  await page.keyboard.insertText(line);
  await page.waitForTimeout(400);
  await page.keyboard.press("Escape"); // the list of completions
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    `![${JSON.stringify(before)}, ${JSON.stringify(line)}].includes((${lastEntry})())`,
  );
  await page.waitForTimeout(300);
  return page.evaluate(lastEntry);
}

// A pane's header (Variables, Watch) is clicked if it is not folded as wanted.
async function unfold(name, wanted) {
  const header = page.locator(`.pane-header[aria-label^="${name}"]`);
  if ((await header.getAttribute("aria-expanded")) !== String(wanted)) {
    await header.click({ position: { x: 60, y: 8 } });
  }
}

// Unfold a row of a tree, or fold it.
async function open(row, wanted = true) {
  await row.waitFor();
  for (let tries = 0; tries < 8; tries++) {
    if ((await row.getAttribute("aria-expanded")) === String(wanted)) {
      return;
    }
    await row.click();
    await page.waitForTimeout(1000); // the children are asked for
  }
  throw new Error(`${await row.textContent()} does not unfold`);
}

// Drag the line between Variables and Call Stack down, once the folded panes have come to rest.
async function enlargeVariables() {
  const header = page.locator('.pane-header[aria-label^="Call Stack"]');
  for (let tries = 0; tries < 5; tries++) {
    await page.waitForTimeout(800);
    const { y } = await header.boundingBox();
    if (y > 450) {
      return;
    }
    await page.mouse.move(200, y);
    await page.mouse.down();
    await page.mouse.move(200, 530, { steps: 8 });
    await page.mouse.up();
  }
  throw new Error("the view Variables stays small");
}

const variables = page.locator(".debug-variables .monaco-list-row");
async function choose(row, item) {
  await row.click({ button: "right" });
  await page.waitForTimeout(1000); // a menu ignores the button until then
  await page.locator(".monaco-menu .action-label", { hasText: item }).click();
}

// Unfold the tensor hidden; return the row of hidden[1][0]. The editor does not always unfold again
// what was unfolded at the last stop.
async function openElement() {
  await open(variables.filter({ hasText: "Registers" }).first(), false);
  await open(variables.filter({ hasText: "Tensors" }).first());
  await open(variables.filter({ hasText: /^hidden/ }).first());
  await open(variables.filter({ hasText: /^\[1\]/ }).first());
  const element = variables.filter({ hasText: /^\[0\]/ }).nth(1);
  await element.waitFor();
  return element;
}

async function play() {
  await page.goto(`${address}/?folder=${folder}&payload=${encodeURIComponent(payload)}`);
  await page.waitForFunction(
    () => document.querySelector(".view-lines")?.textContent.includes("0x80000340"), // the server
    undefined,
    { timeout: 120000 },
  );

  // A breakpoint by F9, a start by F5 without a launch.json, a hover, steps
  await goToLine(67);
  await page.keyboard.press("F9");
  await page.waitForSelector(".codicon-debug-breakpoint, .codicon-debug-breakpoint-unverified");
  await page.keyboard.press("F5");
  await stop(58, "at cycle 0");
  await page.keyboard.press("F5");
  await stop(67, "breakpoint at cycle");
  const line = page.locator(".view-line").filter({ hasText: /dispatch\s+s0,\s+a1/ }).first();
  await line.locator("span", { hasText: /^a1/ }).last().hover();
  await page.waitForSelector(".debug-hover-widget .value");
  shown.hover = plain(await page.textContent(".debug-hover-widget .value"));
  await write("first", await page.screenshot());
  await page.keyboard.press("F10");
  await stop(68, "step");
  await press("step-back");
  await stop(67, "breakpoint at cycle");
  await line.locator("span", { hasText: /^dispatch/ }).last().hover(); // no expression, no message
  await page.waitForTimeout(1500);

  // The end, and which number is wrong
  await press("continue");
  await stop(77, "exit with code 0");
  shown.difference = await say("diff y golden.npy");
  shown.why = await say("why y[1, 0] depth 2");
  await picture("end");
  shown.hidden = await say("diff hidden golden_hidden.npy");

  // Back to where it was made
  for (const name of ["Watch", "Breakpoints", "Loaded Scripts"]) {
    await unfold(name, false);
  }
  await enlargeVariables();
  const element = await openElement();
  shown.element = plain(await element.textContent());
  await choose(element, "Break on Value Change");
  await press("reverse-continue");
  await stop(34, "watch at cycle");
  shown.watch = await page.evaluate(lastEntry);
  await openElement(); // of another core
  await picture("back");

  // Why, in the view of the extension
  await choose(element, "Why has this value");
  const causes = page.locator('.pane:has(.pane-header[aria-label^="Why"]) .monaco-list-row');
  await causes.first().waitFor();
  await page.waitForTimeout(1500);
  shown.causes = (await causes.allTextContents()).map(plain);
  shown.queues = (
    await page.locator('.pane:has(.pane-header[aria-label^="Queues"]) .monaco-list-row').allTextContents()
  ).map(plain);
  for (const frame of page.frames()) {
    const cells = await frame.$$eval("td span", (all) => all.map((cell) => cell.textContent));
    shown.units = cells.length ? cells : shown.units;
  }
  await picture("why");
  await causes.filter({ hasText: "with shift" }).first().click();
  await page.waitForFunction(
    () => document.querySelector("#status\\.editor\\.selection").textContent.startsWith("Ln 46,"),
  );

  // Memory
  await choose(variables.filter({ hasText: /^hidden/ }).first(), "Show memory");
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".editor-instance .view-lines")].some((lines) =>
      lines.textContent.includes("0x100001d4")));
  shown.memory = plain(
    await page.locator(".view-line").filter({ hasText: /^0x100001dc/ }).first().textContent(),
  );
  await picture("memory", { clip: { x: 348, y: 35, width: 852, height: 464 } });
  await page.locator('.tab[aria-label^="memory of"] .codicon-close').click();
  await page.locator(".panel .action-label", { hasText: "Debug Console" }).click();

  // Instructions, those of packets
  await palette("Open Disassembly View");
  const instructions = page.locator(".disassembly-view .monaco-list-row");
  await instructions.filter({ hasText: "1000016e" }).first().waitFor();
  shown.instructions = (await instructions.allTextContents()).map(plain);
  await palette("View: Close Editor"); // the toolbar covers its tab

  // Another shift, in memory
  await say("delete");
  await say("goto 0");
  await stop(58, "at cycle 0");
  await say("set mem[0x80000159].u8 = 8");
  await say("continue");
  await stop(77, "exit with code 0");
  shown.tried = await say("diff y golden.npy");

  // Another shift, in the source
  await goToLine(30);
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("8");
  await page.keyboard.press("Control+s");
  await press("restart");
  await stop(58, "at cycle 0");
  await press("continue");
  await stop(77, "exit with code 0");
  shown.mended = await say("diff y golden.npy");
  shown.messages = await page.locator(".notification-list-item").allTextContents();
  await press("stop");
  await page.waitForSelector(".debug-toolbar", { state: "hidden" });
}

try {
  await play();
} catch (error) {
  shown.failure = String(error);
  await page.screenshot({ path: `${pictures}/failure.png` });
} finally {
  await browser.close();
}
console.log(JSON.stringify(shown));
