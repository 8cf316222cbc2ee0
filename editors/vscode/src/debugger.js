// The debugger: starts `macaw dap`, and completes what a launch configuration leaves open.
"use strict";

const fs = require("fs");
const path = require("path");
const vscode = require("vscode");
const { command, settings } = require("./settings");

const factory = {
  createDebugAdapterDescriptor() {
    const [program, ...first] = command();
    const more = settings().get("debug.allowShell") ? ["--allow-shell"] : [];
    return new vscode.DebugAdapterExecutable(program, [...first, "dap", ...more]);
  },
};

// VS Code says nothing if the command of a debugger is missing.
const trackers = {
  createDebugAdapterTracker() {
    return {
      onError(error) {
        vscode.window.showErrorMessage(
          `Macaw: '${command().join(" ")} dap' fails: ${error.message.replace(/\.$/, "")}. ` +
            "The setting macaw.command names the command."
        );
      },
    };
  },
};

function textOf(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

// The texts of a source and of all that it includes, by path. `folder` is that of the program.
function textsOf(source, folder, found = new Map()) {
  if (found.has(source) || !fs.existsSync(source)) {
    return found;
  }
  const text = textOf(source);
  found.set(source, text);
  for (const [, name] of text.matchAll(/^[^#"\n]*\.include[ \t]+"([^"\n]+)"/gm)) {
    textsOf(path.resolve(path.dirname(source), name), folder, found);
    textsOf(path.resolve(folder, name), folder, found);
  }
  return found;
}

// The inputs that a program declares and that have a file beside it: { x: "/home/me/x.npy" }.
function inputsBeside(source) {
  const folder = path.dirname(source);
  const inputs = {};
  for (const text of textsOf(source, folder).values()) {
    for (const [, name] of text.matchAll(/^[ \t]*\.input[ \t]+([\w.$]+)/gm)) {
      const file = path.join(folder, `${name}.npy`);
      if (fs.existsSync(file)) {
        inputs[name] = file;
      }
    }
  }
  return inputs;
}

// The sources that the golden.toml of a folder names; undefined without such a file.
function goldenSources(folder) {
  const file = path.join(folder, "golden.toml");
  if (!fs.existsSync(file)) {
    return undefined;
  }
  const [, value] = textOf(file).match(/^[ \t]*source[ \t]*=[ \t]*(\[[^\]]*\]|.*)/m) ?? ["", ""];
  const names = value.replace(/#.*/g, "").matchAll(/"([^"]*)"|'([^']*)'/g);
  return Array.from(names, ([, first, second]) => path.resolve(folder, first ?? second));
}

// The program of a file: its folder, if the golden.toml there names the file, a source that
// includes it, or an executable.
function programOf(document) {
  const file = document.uri.fsPath;
  const folder = path.dirname(file);
  const isSource = (name) => /\.(s|asm|inc)$/i.test(name);
  const isFolder = goldenSources(folder)?.some(
    (source) => !isSource(source) || textsOf(source, folder).has(file)
  );
  return isFolder ? { program: folder } : { program: file, inputs: inputsBeside(file) };
}

const launch = { type: "macaw", request: "launch" };

const provider = {
  // For F5 without a launch.json, and for what a launch.json leaves out.
  resolveDebugConfiguration(folder, given) {
    let configuration = given;
    if (!given.type && !given.request && !given.name) {
      const document = vscode.window.activeTextEditor?.document;
      if (document?.languageId !== "macaw") {
        vscode.window.showErrorMessage(
          "Macaw: F5 debugs the Macaw source in the editor. For anything else, such as an " +
            "executable of C, name the program in a launch configuration."
        );
        return null; // opens launch.json
      }
      const name = path.basename(document.uri.fsPath);
      configuration = {
        ...launch, name, cwd: path.dirname(document.uri.fsPath), ...programOf(document),
        stopOnEntry: true, stopOnExit: true, noDebug: given.noDebug,
      };
    }
    if (!configuration.program) {
      vscode.window.showErrorMessage(
        "Macaw: the launch configuration has no program: a source, an executable or a folder."
      );
      return undefined;
    }
    return { cwd: folder?.uri.fsPath, ...configuration };
  },
};

// Names and elements under the mouse: `s0`, `y`, `pe[0].retired`, `hidden[1, 4]`; nothing in
// comments, and no part of a number (`1b`, `0x10`), of an argument (`\\x`) or of a function (`%lo`).
const NAME = /(?<![\w.$%\\])\.?[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*|\[[^\[\]\n]*\])*/;

const hovers = {
  provideEvaluatableExpression(document, position) {
    const range = document.getWordRangeAtPosition(position, NAME);
    const before = document.lineAt(position.line).text.slice(0, position.character);
    const isCode = !/#|\/\/|"[^"]*$/.test(before.replace(/"[^"]*"|'(?:\\.|[^\\])'?/g, ""));
    return range && isCode ? new vscode.EvaluatableExpression(range) : undefined;
  },
};

function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("macaw", factory),
    vscode.debug.registerDebugAdapterTrackerFactory("macaw", trackers),
    vscode.debug.registerDebugConfigurationProvider("macaw", provider),
    vscode.languages.registerEvaluatableExpressionProvider({ language: "macaw" }, hovers)
  );
}

module.exports = { activate };
