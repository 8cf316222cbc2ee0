// Every request that `macaw dap` announces, by VS Code's own client for tests of debug adapters:
// `node client.mjs MACAW FOLDER` starts the program MACAW with `dap`, debugs loop.s of FOLDER, and
// prints what the adapter answers, as JSON. node_modules is in the present folder.
import fs from "fs";
import { createRequire } from "module";
import path from "path";

const require = createRequire(process.cwd() + "/");
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const [program, folder] = process.argv.slice(2);
const source = path.join(folder, "loop.s");
const lines = fs.readFileSync(source, "utf8").split("\n");
const lineOf = (word) => lines.findIndex((line) => line.includes(word)) + 1;
const shown = {};

const client = new DebugClient(program, "dap", "macaw", { cwd: folder });
client.defaultTimeout = 30000;
const body = async (answer) => (await answer).body;
const stopOf = async (reason, act) => (
  await Promise.all([client.assertStoppedLocation(reason, {}), act()])
)[0].body.stackFrames[0];
const send = (command, more) => body(client.customRequest(command, more));

await client.start();
shown.capabilities = (await client.initializeRequest()).body;
await Promise.all([
  client.waitForEvent("initialized"),
  client.launchRequest({ program: source, cwd: folder, stopOnEntry: true, stopOnExit: true }),
]);
shown.sources = (await send("loadedSources")).sources.map((one) => one.path);
shown.locations = await send("breakpointLocations", { source: { path: source }, line: 1, endLine: 99 });
shown.breakpoints = (await client.setBreakpointsRequest({
  source: { path: source },
  breakpoints: [{ line: lineOf("sw "), condition: "s0 == 8" }, { line: lineOf("bne"), logMessage: "s0 {s0}" }],
})).body.breakpoints.map((one) => [one.verified, one.line]);
await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "finish", hitCondition: "1" }] });
await client.setExceptionBreakpointsRequest({ filters: ["fault"], filterOptions: [{ filterId: "stall" }] });
await client.setExceptionBreakpointsRequest({ filters: [] });
shown.entry = (await stopOf("entry", () => client.configurationDoneRequest())).line;

const thread = (await client.threadsRequest()).body.threads[0].id;
const at = { threadId: thread };
shown.next = (await stopOf("step", () => client.nextRequest(at))).line;
shown.in = (await stopOf("step", () => client.stepInRequest({ ...at, granularity: "instruction" }))).line;
shown.back = (await stopOf("step", () => client.stepBackRequest(at))).line;
const hit = await stopOf("breakpoint", () => client.continueRequest(at));
shown.hit = hit.line;
const { scopes } = (await client.scopesRequest({ frameId: hit.id })).body;
const registers = scopes.find((scope) => scope.name === "Registers").variablesReference;
const { variables } = (await client.variablesRequest({ variablesReference: registers })).body;
shown.s0 = variables.find((one) => one.name === "s0").value;
const set = { variablesReference: registers, name: "s5", value: "s0 * 3" };
shown.set = (await client.setVariableRequest(set)).body.value;
shown.expression = (await send("setExpression", { expression: "cp.s6", value: "s5 + 1", frameId: hit.id })).value;
shown.hover = (await client.evaluateRequest({ expression: "s6", context: "hover", frameId: hit.id })).body.result;
shown.why = (await client.evaluateRequest({ expression: "why s0", context: "repl", frameId: hit.id })).body.result;
shown.completions = (await client.completionsRequest({ text: "reverse-c", column: 10 })).body.targets.map((one) => one.label);

const pointer = (await client.evaluateRequest({ expression: "&data", context: "watch" })).body.memoryReference;
await send("writeMemory", { memoryReference: pointer, data: Buffer.from("AB").toString("base64") });
shown.memory = Buffer.from((await send("readMemory", { memoryReference: pointer, count: 4 })).data, "base64").toString("hex");
shown.disassembly = (await client.disassembleRequest({
  memoryReference: hit.instructionPointerReference, instructionCount: 2,
})).body.instructions.map((one) => one.instruction);
shown.text = (await client.sourceRequest({ sourceReference: 0, source: { path: source } })).body.content;

const { dataId } = (await client.dataBreakpointInfoRequest({ name: "data[1]" })).body;
await client.setDataBreakpointsRequest({ breakpoints: [{ dataId, accessType: "write" }] });
shown.data = (await stopOf("data breakpoint", () => client.reverseContinueRequest(at))).line;
await client.setDataBreakpointsRequest({ breakpoints: [] });
await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
await send("setInstructionBreakpoints", {
  breakpoints: [{ instructionReference: hit.instructionPointerReference }],
});
shown.instruction = (await stopOf("instruction breakpoint", () => client.continueRequest(at))).line;
await send("setInstructionBreakpoints", { breakpoints: [] });
const { targets } = (await client.gotoTargetsRequest({ source: { path: source }, line: lineOf("fault:") })).body;
shown.goto = (await stopOf("goto", () => client.gotoRequest({ ...at, targetId: targets[0].id }))).line;
shown.fault = (await stopOf("exception", () => client.continueRequest(at))).line;
shown.exception = (await client.exceptionInfoRequest(at)).body.exceptionId;
shown.restart = (await stopOf("entry", () => client.restartRequest({}))).line;
shown.call = (await stopOf("function breakpoint", () => client.continueRequest(at))).line;
shown.out = (await stopOf("step", () => client.stepOutRequest(at))).line;
shown.exit = (await stopOf("exit", () => client.continueRequest(at))).line;
await client.pauseRequest(at);
shown.queues = (await send("macaw/queues", { places: "pe[0]" })).queues.map((one) => one.name);
shown.grid = (await send("macaw/grid", {})).rows.length;
shown.cause = (await send("macaw/why", { expression: "s0" })).lines[0];
await Promise.all([client.waitForEvent("terminated"), client.terminateRequest({})]);
console.log(JSON.stringify(shown));
await client.stop(); // disconnects, and ends the adapter
