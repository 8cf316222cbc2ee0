// Tasks: assemble, run or profile a file.
"use strict";

const vscode = require("vscode");
const { command } = require("./settings");

// One task for a line of arguments of macaw.
function task(definition, name, scope) {
  const [program, ...first] = command();
  const execution = new vscode.ProcessExecution(program, [...first, ...definition.arguments]);
  return new vscode.Task(definition, scope, name, "macaw", execution, "$macaw");
}

const provider = {
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

function activate(context) {
  context.subscriptions.push(vscode.tasks.registerTaskProvider("macaw", provider));
}

module.exports = { activate };
