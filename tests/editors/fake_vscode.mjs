// What the extension's debugger.js gives VS Code for a file, without VS Code: `node
// fake_vscode.mjs FILE LANGUAGE` prints, as JSON, the launch configuration of a start by F5, the
// messages to the user, and the text under the mouse at each column of each line.
import fs from "fs";
import Module, { createRequire } from "module";
import { fileURLToPath } from "url";

const [file, languageId] = process.argv.slice(2);
const text = fs.readFileSync(file, "utf8");
const lines = text.split("\n");

// As VS Code: the match that has the column, also as its end.
function getWordRangeAtPosition({ line, character }, pattern) {
  for (const match of lines[line].matchAll(new RegExp(pattern.source, "g"))) {
    const [start, end] = [match.index, match.index + match[0].length];
    if (start <= character && character <= end) {
      return { line, start, end };
    }
  }
  return undefined;
}

const document = {
  languageId, uri: { fsPath: file }, getText: () => text, getWordRangeAtPosition,
  lineAt: (line) => ({ text: lines[line] }),
};
const shown = { messages: [] };
const providers = {};
const vscode = {
  EvaluatableExpression: class {
    constructor(range) {
      this.range = range;
    }
  },
  window: {
    activeTextEditor: { document }, showErrorMessage: (message) => shown.messages.push(message),
  },
  debug: {
    registerDebugAdapterDescriptorFactory() {},
    registerDebugAdapterTrackerFactory() {},
    registerDebugConfigurationProvider: (_, provider) => (providers.launch = provider),
  },
  languages: {
    registerEvaluatableExpressionProvider: (_, provider) => (providers.hover = provider),
  },
};
const load = Module._load;
Module._load = (name, ...more) => (name === "vscode" ? vscode : load(name, ...more));
const script = new URL("../../editors/vscode/src/debugger.js", import.meta.url);
createRequire(import.meta.url)(fileURLToPath(script)).activate({ subscriptions: [] });

shown.launch = providers.launch.resolveDebugConfiguration(undefined, {});
shown.hovers = lines.map((line, at) =>
  Array.from({ length: line.length + 1 }, (_, character) => {
    const found = providers.hover.provideEvaluatableExpression(document, { line: at, character });
    return found ? line.slice(found.range.start, found.range.end) : "";
  }),
);
console.log(JSON.stringify(shown));
