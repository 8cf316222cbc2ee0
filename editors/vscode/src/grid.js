// The grid of units: the value of an expression in each, a cell a unit. A click sets the focus.
"use strict";

const crypto = require("crypto");
const { ask, execute } = require("./session");

const STYLE = `
  body { padding: 4px 8px; }
  input { width: 16em; font: inherit; color: var(--vscode-input-foreground);
          background: var(--vscode-input-background);
          border: 1px solid var(--vscode-input-border, transparent); }
  table { border-spacing: 2px; margin-top: 6px; }
  th { text-align: left; font-weight: normal; padding-right: 8px; }
  td { min-width: 2.5em; padding: 1px 4px; text-align: right; cursor: pointer; position: relative;
       border: 1px solid var(--vscode-panel-border); }
  td.focus { outline: 2px solid var(--vscode-focusBorder); }
  td i { position: absolute; inset: 0; background: var(--vscode-charts-blue); }
  td span { position: relative; }`;

// Runs in the page: no words of a program become markup, all are texts of nodes.
const SCRIPT = `
  const vscode = acquireVsCodeApi();
  const input = document.querySelector("input");
  const table = document.querySelector("table");
  const message = document.querySelector("p");
  input.addEventListener("change", () => vscode.postMessage({ expression: input.value }));
  function add(parent, name, text) {
    const node = parent.appendChild(document.createElement(name));
    node.textContent = text;
    return node;
  }
  window.addEventListener("message", ({ data }) => {
    message.textContent = data.message;
    if (document.activeElement !== input && data.expression) input.value = data.expression;
    table.replaceChildren();
    const most = Math.max(1, ...data.rows.flatMap((row) => row.values).map(Math.abs));
    for (const row of data.rows) {
      const line = add(table, "tr", "");
      add(line, "th", row.name);
      row.values.forEach((value, at) => {
        const cell = add(line, "td", "");
        add(cell, "i", "").style.opacity = 0.6 * Math.abs(value ?? 0) / most;
        add(cell, "span", value ?? "-");
        cell.title = row.places[at];
        cell.classList.toggle("focus", data.focus.includes(row.places[at]));
        cell.addEventListener("click", () => vscode.postMessage({ focus: row.places[at] }));
      });
    }
  });
  vscode.postMessage({});`;

function page() {
  const nonce = crypto.randomBytes(16).toString("hex");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}"><style>${STYLE}</style></head>
<body><input placeholder="an expression, as macs" title="the value of each cell"><p></p>
<table></table><script nonce="${nonce}">${SCRIPT}</script></body></html>`;
}

const EMPTY = { rows: [], focus: [], message: "", expression: "" };

class View {
  constructor() {
    this.expression = "";
    this.view = undefined; // until VS Code shows it
  }

  resolveWebviewView(view) {
    this.view = view;
    view.webview.options = { enableScripts: true };
    view.webview.onDidReceiveMessage(async ({ expression, focus }) => {
      this.expression = expression ?? this.expression;
      if (focus) {
        await execute(`focus ${focus}`).catch((error) => this.post({ message: error.message }));
      }
      await this.update();
    });
    view.onDidDispose(() => {
      this.view = undefined;
    });
    view.webview.html = page();
  }

  post(data) {
    this.view?.webview.postMessage({ ...EMPTY, ...data });
  }

  clear() {
    this.post({});
  }

  async update() {
    if (!this.view) {
      return;
    }
    try {
      this.post(await ask("macaw/grid", { expression: this.expression }));
    } catch (error) {
      this.post({ message: error.message });
    }
  }
}

module.exports = { View };
