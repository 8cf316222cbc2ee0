// Memory as a document that changes at each stop: addresses, bytes, characters.
"use strict";

const vscode = require("vscode");
const { ask, onChange } = require("./session");

const SCHEME = "macaw-memory";
const ROW = 8; // bytes of a line: two columns of editors fit on a screen
const MOST = 4096; // bytes that one document shows

function address(number) {
  return `0x${number.toString(16).padStart(8, "0")}`;
}

// Lines of 8 bytes: the address, the bytes, the characters of ASCII.
function dump(start, data) {
  const lines = [];
  for (let at = 0; at < data.length; at += ROW) {
    const bytes = [...data.subarray(at, at + ROW)];
    const shown = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = bytes.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "."));
    lines.push(`${address(start + at)}  ${shown.padEnd(3 * ROW)} ${text.join("")}`);
  }
  return lines.join("\n");
}

// The bytes at an address, as text.
async function content(start) {
  try {
    const read = await ask("readMemory", { memoryReference: address(start), count: MOST });
    const data = Buffer.from(read.data ?? "", "base64");
    return data.length ? dump(start, data) : `${address(start)}: no memory is there\n`;
  } catch (error) {
    return `${address(start)}: ${error.message}\n`;
  }
}

// Where to look: the variable of a menu, or what the user types, which may be an expression.
async function startOf(chosen) {
  if (chosen?.variable) {
    return { reference: chosen.variable.memoryReference, name: chosen.variable.evaluateName };
  }
  const name = await vscode.window.showInputBox({
    title: "Macaw: show memory",
    prompt: "An address, a symbol, a tensor or an element: 0x80000000, table, y, y[1, 0]",
  });
  if (!name) {
    return undefined;
  }
  const body = await ask("evaluate", { expression: name, context: "watch" });
  return { reference: body.memoryReference ?? body.result, name };
}

async function show(chosen) {
  try {
    const start = await startOf(chosen);
    if (start === undefined) {
      return;
    }
    const number = Number(start.reference);
    if (!Number.isInteger(number) || number < 0 || number >= 2 ** 32) {
      throw new Error(`${start.name} is no address and is not in memory`);
    }
    const title = `memory of ${start.name}`.replaceAll("/", "|");
    const uri = vscode.Uri.from({ scheme: SCHEME, path: title, query: String(number) });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside, preserveFocus: true,
    });
  } catch (error) {
    vscode.window.showErrorMessage(`Macaw: ${error.message}`);
  }
}

function activate(context) {
  const changed = new vscode.EventEmitter();
  const provider = {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => content(Number(uri.query)),
  };
  onChange(context, () => {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === SCHEME) {
        changed.fire(document.uri);
      }
    }
  });
  context.subscriptions.push(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.commands.registerCommand("macaw.memory", show)
  );
}

module.exports = { activate };
