// The views of a session: what made a value (why), the queues of the focus, the grid of units.
"use strict";

const vscode = require("vscode");
const { ask, execute, onChange, session } = require("./session");
const grid = require("./grid");

// A tree of rows { label, description, tooltip, children, command }; `rows` is replaced as a whole.
class Rows {
  constructor() {
    this.rows = [];
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  show(rows) {
    this.rows = rows;
    this.changed.fire();
  }

  getChildren(row) {
    return row ? row.children : this.rows;
  }

  getParent(row) {
    return row.parent;
  }

  getTreeItem(row) {
    const { None, Expanded } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(row.label, row.children.length ? Expanded : None);
    Object.assign(item, {
      description: row.description, tooltip: row.tooltip, command: row.command,
      contextValue: row.cycle === undefined ? undefined : "step",
    });
    return item;
  }
}

// The rows of `macaw/why`, each with a depth, as a tree.
function treeOf(rows) {
  const top = { children: [] };
  const path = [top];
  for (const row of rows) {
    const parent = path[row.depth];
    const [label, ...rest] = row.text.split(": ");
    const item = {
      label, description: rest.join(": "), tooltip: row.text, children: [], cycle: row.cycle,
      parent: row.depth ? parent : undefined,
      command: row.source && {
        command: "macaw.showLine", title: "Show the line", arguments: [row.source.path, row.line],
      },
    };
    parent.children.push(item);
    path.length = row.depth + 1;
    path.push(item);
  }
  return top.children;
}

async function showLine(file, line) {
  const at = new vscode.Position(line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    selection: new vscode.Range(at, at), preview: true,
  });
}

// What `why` shall explain: the variable of a menu, the selection, or what the user types.
async function expressionOf(chosen) {
  if (chosen?.variable) {
    return chosen.variable.evaluateName;
  }
  const editor = vscode.window.activeTextEditor;
  const selected = editor ? editor.document.getText(editor.selection).trim() : "";
  return vscode.window.showInputBox({
    title: "Macaw: why has a value become what it is?",
    prompt: "A register, an element, memory: y[1, 0], s0, mem[0x80000000]",
    value: selected.includes("\n") ? "" : selected,
  });
}

function activate(context) {
  const queues = new Rows();
  const causes = new Rows();
  const queueView = vscode.window.createTreeView("macaw.queues", { treeDataProvider: queues });
  const causeView = vscode.window.createTreeView("macaw.why", { treeDataProvider: causes });

  async function showQueues() {
    const { queues: rows } = await ask("macaw/queues");
    const several = new Set(rows.map((row) => row.place)).size > 1;
    queueView.description = several || !rows.length ? "" : rows[0].place;
    queueView.message = rows.length ? undefined : "This core has no queues.";
    queues.show(rows.map((row) => ({
      label: several ? `${row.place} ${row.name}` : row.name,
      description: `${row.level} of ${row.capacity}`,
      tooltip: row.meaning, children: [],
    })));
  }

  async function why(chosen) {
    const expression = await expressionOf(chosen);
    if (!expression) {
      return;
    }
    try {
      const { rows } = await ask("macaw/why", { expression });
      causes.show(treeOf(rows));
      causeView.description = expression;
      await causeView.reveal(causes.rows[0], { focus: true });
    } catch (error) {
      vscode.window.showErrorMessage(`Macaw: why ${expression}: ${error.message}`);
    }
  }

  async function goToCycle(row) {
    try {
      await execute(`goto ${row.cycle}`);
    } catch (error) {
      vscode.window.showErrorMessage(`Macaw: goto ${row.cycle}: ${error.message}`);
    }
  }

  const heat = new grid.View();
  async function update() {
    if (!session()) {
      queues.show([]);
      causes.show([]);
      heat.clear();
    } else if (vscode.debug.activeStackItem && "frameId" in vscode.debug.activeStackItem) {
      // A stop that is over already has nothing to show: the next one follows.
      await Promise.all([showQueues(), heat.update()]).catch(() => {});
    }
  }

  onChange(context, update);
  context.subscriptions.push(
    queueView,
    causeView,
    vscode.window.registerWebviewViewProvider("macaw.grid", heat),
    vscode.commands.registerCommand("macaw.why", why),
    vscode.commands.registerCommand("macaw.showLine", showLine),
    vscode.commands.registerCommand("macaw.goToCycle", goToCycle)
  );
}

module.exports = { activate };
