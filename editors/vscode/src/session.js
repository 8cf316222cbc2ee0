// The present session of the debugger, for the views.
"use strict";

const vscode = require("vscode");

// The session of Macaw that is in front, or undefined.
function session() {
  const active = vscode.debug.activeDebugSession;
  return active?.type === "macaw" ? active : undefined;
}

// The body of the answer to a request about the chosen frame. Throws what the adapter says.
async function ask(command, more = {}) {
  const active = session();
  if (!active) {
    throw new Error("no program is debugged");
  }
  const item = vscode.debug.activeStackItem;
  const frame = item?.session === active && "frameId" in item ? { frameId: item.frameId } : {};
  return active.customRequest(command, { ...frame, ...more });
}

// Execute a command of the debugger, as the console does.
function execute(line) {
  return ask("evaluate", { expression: line, context: "repl" });
}

// Call a function after each stop, change of the frame, change of a value, and at the end.
function onChange(context, act) {
  const tracker = {
    createDebugAdapterTracker() {
      return {
        onDidSendMessage(message) {
          if (message.type === "event" && ["invalidated", "memory"].includes(message.event)) {
            act();
          }
        },
      };
    },
  };
  context.subscriptions.push(
    vscode.debug.onDidChangeActiveStackItem(act),
    vscode.debug.onDidTerminateDebugSession(act),
    vscode.debug.registerDebugAdapterTrackerFactory("macaw", tracker)
  );
}

module.exports = { ask, execute, onChange, session };
