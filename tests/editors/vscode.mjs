// Tokenise files with VS Code's own engine: `node vscode.mjs GRAMMAR FILE...` prints, for each file
// and line, [start, end, innermost scope]. Run by `make test-extras`.
import fs from "fs";
import { createRequire } from "module";

const require = createRequire(process.cwd() + "/");
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

await oniguruma.loadWASM(
  fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer,
);
const [grammarFile, ...files] = process.argv.slice(2);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () =>
    textmate.parseRawGrammar(fs.readFileSync(grammarFile, "utf8"), grammarFile),
});
const grammar = await registry.loadGrammar("source.macaw");
const found = files.map((file) => {
  let state = textmate.INITIAL;
  return fs.readFileSync(file, "utf8").split("\n").map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.map((token) => [token.startIndex, token.endIndex, token.scopes.at(-1)]);
  });
});
console.log(JSON.stringify(found));
