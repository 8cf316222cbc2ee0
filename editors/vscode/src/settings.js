// The settings of the extension that several parts need.
"use strict";

const vscode = require("vscode");

function settings() {
  return vscode.workspace.getConfiguration("macaw");
}

// The command that starts macaw, as [program, ...arguments].
function command() {
  const words = settings().get("command");
  return Array.isArray(words) && words.length ? words : ["macaw"];
}

module.exports = { settings, command };
