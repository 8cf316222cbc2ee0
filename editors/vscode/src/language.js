// The language client: starts `macaw lsp` when the first Macaw source is opened.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { command, settings } = require("./settings");

let client; // undefined until it has started

// What the server reads when it starts: docs/editors.md lists these options.
function serverOptions() {
  const given = settings();
  return {
    includeDirs: given.get("includeDirs"),
    defines: given.get("defines"),
    gnu: given.get("gnu"),
    inlayHints: {
      values: given.get("inlayHints.values"),
      addresses: given.get("inlayHints.addresses"),
      cycles: given.get("inlayHints.cycles"),
    },
  };
}

async function start() {
  const [program, ...first] = command();
  const server = { command: program, args: [...first, "lsp"] };
  const watched = ["**/golden.toml", "**/*.{s,S,asm,inc,h,npy,bin,toml}"];
  client = new LanguageClient("macaw", "Macaw", server, {
    documentSelector: [{ language: "macaw" }],
    initializationOptions: serverOptions(),
    synchronize: {
      fileEvents: watched.map((glob) => vscode.workspace.createFileSystemWatcher(glob)),
    },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `Macaw: '${[program, ...first].join(" ")} lsp' does not start: ${error.message ?? error}. ` +
        "pip install 'macaw-npu[lsp]' brings it; the setting macaw.command names it."
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

// A session of the debugger activates the extension, too: without a Macaw source (a program of C
// alone) it needs no server.
async function activate(context) {
  let isStarted = false;
  async function startFor(document) {
    if (document.languageId === "macaw" && !isStarted) {
      isStarted = true;
      await start();
    }
  }
  context.subscriptions.push(
    vscode.commands.registerCommand("macaw.restart", restart),
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (isStarted && event.affectsConfiguration("macaw")) {
        await restart();
      }
    })
  );
  for (const document of vscode.workspace.textDocuments) {
    await startFor(document);
  }
}

module.exports = { activate, stop };
