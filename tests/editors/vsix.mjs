// The extension in VS Code's editor: `node vsix.mjs ADDRESS FOLDER FILE` opens a folder and a
// file of it in a code-server and prints what the page shows, as JSON. Run by `make test-extras`.
import { createRequire } from "module";

const require = createRequire(process.cwd() + "/");
const { chromium } = require("playwright-core");
const [address, folder, file, executablePath] = process.argv.slice(2);
const payload = JSON.stringify([["openFile", `vscode-remote://${new URL(address).host}${file}`]]);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
page.setDefaultTimeout(120000); // other programs may keep the machine busy
const shown = {};
try {
  await page.goto(`${address}/?folder=${folder}&payload=${encodeURIComponent(payload)}`);
  await page.waitForSelector(".view-lines .view-line");
  // A misspelt mnemonic is underlined once the server has answered.
  await page.waitForSelector(".squiggly-error");
  await page.waitForFunction(() =>
    document.querySelector(".view-lines").textContent.includes("cycle"),
  );
  shown.lines = await page.$$eval(".view-lines .view-line", (lines) =>
    lines.map((line) => line.textContent.replace(/[\u00a0\u200a]/g, " ")),
  );
  shown.errors = await page.$$eval(".squiggly-error", (marks) => marks.length);
  shown.status = await page.textContent("#status\\.editor\\.mode");
  shown.folds = await page.$$eval(".codicon-folding-expanded", (marks) => marks.length);
  await page.keyboard.press("Control+Shift+M"); // the list of problems
  await page.waitForSelector(".markers-panel .monaco-list-row");
  shown.problems = await page.$$eval(".markers-panel .monaco-list-row", (rows) =>
    rows.map((row) => row.textContent.replaceAll("\u00a0", " ")),
  );
} catch (error) {
  shown.failure = String(error);
  await page.screenshot({ path: "code-server.png" }); // in the folder of node_modules
} finally {
  await browser.close();
}
console.log(JSON.stringify(shown));
