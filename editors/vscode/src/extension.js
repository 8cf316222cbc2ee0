// The extension: a client of `macaw lsp`, a client of `macaw dap` with views of its own, tasks.
"use strict";

const debuggers = require("./debugger");
const language = require("./language");
const memory = require("./memory");
const tasks = require("./tasks");
const views = require("./views");

async function activate(context) {
  for (const part of [tasks, debuggers, views, memory]) {
    part.activate(context);
  }
  await language.activate(context);
}

module.exports = { activate, deactivate: language.stop };
