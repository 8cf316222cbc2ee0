// The extension starts `macaw lsp` when the first Macaw source is opened, and offers tasks.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client; // the language client; undefined until it has started

function settings() {
  return vscode.workspace.getConfiguration("macaw");
}

// The command that starts macaw, as [program, ...arguments].
function command() {
  const words = settings().get("command");
  return Array.isArray(words) && words.length ? words : ["macaw"];
}

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
  const watched = ["**/golden.toml", "**/*.{s,S,asm,inc,npy,toml}"];
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
      `Macaw: '${[program, ...first].join(" ")} lsp' does not start: ${error.message}. ` +
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

// One task for a line of arguments of macaw.
function task(definition, name, scope) {
  const [program, ...first] = command();
  const execution = new vscode.ProcessExecution(program, [...first, ...definition.arguments]);
  return new vscode.Task(definition, scope, name, "macaw", execution, "$macaw");
}

const tasks = {
  provideTasks() {
    const file = vscode.window.activeTextEditor?.document;
    if (file?.languageId !== "macaw") {
      return [];
    }
    const scope = vscode.workspace.getWorkspaceFolder(file.uri) ?? vscode.TaskScope.Workspace;
    return ["asm", "run", "profile"].map((verb) =>
      task({ type: "macaw", arguments: [verb, file.uri.fsPath] }, `${verb} this file`, scope)
    );
  },
  resolveTask(given) {
    return task(given.definition, given.name, given.scope ?? vscode.TaskScope.Workspace);
  },
};

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("macaw.restart", async () => {
      await stop();
      await start();
    }),
    vscode.tasks.registerTaskProvider("macaw", tasks),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("macaw")) {
        await stop();
        await start();
      }
    })
  );
  await start();
}

module.exports = { activate, deactivate: stop };
