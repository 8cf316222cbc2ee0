// The extension: a client of `macaw lsp`, a client of `macaw dap` with views of its own, tasks.
"use strict";

const debuggers = require("./debugger");
const language = require("./language");
const memory = require("./memory");
const tasks = require("./tasks");
const views = require("./views");

// The debugger does not wait for the language server, which may not even be installed.
function activate(context) {
  for (const part of [tasks, debuggers, views, memory, language]) {
    part.activate(context);
  }
}

module.exports = { activate, deactivate: language.stop };
