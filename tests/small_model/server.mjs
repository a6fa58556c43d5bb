// A real small model behind an OpenAI-compatible server: streaming, cancelling, usage, answers
// bound by a JSON schema, calls bound by the schemas of the tools.
//
//   node server.mjs MODEL.gguf      prints its base URL when it listens
import {createServer} from "node:http";
import {getLlama, LlamaChatSession} from "node-llama-cpp";

const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: 1});
const model = await llama.loadModel({modelPath: process.argv[2]});
const context = await model.createContext({contextSize: 4096, threads: 1});
const sequence = context.getSequence();
const seen = {asked: 0, finished: 0, aborted: 0};
let turn = Promise.resolve();

// Only what the grammar knows of a schema.
function plain(schema) {
  if (schema.anyOf) return {oneOf: schema.anyOf.map(plain)};
  if (schema.const !== undefined) return {const: schema.const};
  if (schema.enum) return {enum: schema.enum};
  switch (schema.type) {
    case "object": {
      const wanted = schema.required ?? [];
      const fields = Object.entries(schema.properties ?? {}).filter(([name]) => wanted.includes(name));
      return {type: "object", properties: Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]))};
    }
    case "array": return {type: "array", items: plain(schema.items), minItems: 1, maxItems: 2};
    case "string": return {type: "string", maxLength: schema.maxLength ?? 60};
    default: return {type: schema.type ?? "string"};
  }
}

function history(messages) {
  const text = ({content}) => typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
  // A window of 4096 tokens has no room for more.
  return messages.map((message) => {
    const said = text(message).slice(-3000);
    if (message.role === "assistant") return {type: "model", response: [said]};
    return {type: message.role === "system" ? "system" : "user", text: said.slice(0, 1500)};
  });
}

async function answer(body, response) {
  seen.asked += 1;
  const aborted = new AbortController();
  response.on("close", () => aborted.abort());
  if (response.destroyed) { seen.aborted += 1; return; }
  response.writeHead(200, {"content-type": "text/event-stream"});
  const chunk = (choices, more = {}) =>
    response.write(`data: ${JSON.stringify({object: "chat.completion.chunk", model: body.model, choices, ...more})}\n\n`);
  const delta = (delta, finish_reason = null) => chunk([{index: 0, delta, finish_reason}]);

  const calls = body.tool_choice === "required";
  const schema = calls
    ? {anyOf: body.tools.map(({function: tool}) => ({type: "object", required: ["name", "arguments"],
        properties: {name: {const: tool.name}, arguments: tool.parameters}}))}
    : body.response_format?.json_schema?.schema;
  const grammar = schema && await llama.createGrammarForJsonSchema(plain(schema));

  await sequence.clearHistory();
  const session = new LlamaChatSession({contextSequence: sequence});
  const messages = history(body.messages);
  const last = messages.pop();
  session.setChatHistory(messages);
  const before = sequence.tokenMeter.getState();
  let text = "";
  try {
    await session.prompt(last.text, {
      grammar, temperature: 0, maxTokens: body.max_tokens ?? 200, signal: aborted.signal,
      onTextChunk: (piece) => { text += piece; if (!calls) delta({content: piece}); },
    });
  } catch (error) {
    if (aborted.signal.aborted) { seen.aborted += 1; return; }
    throw error;
  } finally {
    session.dispose({disposeSequence: false});
  }
  if (calls) {
    // One that ran out of tokens is passed on as it is: cut.
    const [, name] = text.match(/"name":\s*"(\w+)"/) ?? [];
    const args = text.replace(/^.*?"arguments":\s*/s, "").replace(/\}\s*$/, "");
    delta({tool_calls: [{index: 0, id: `call_${seen.asked}`, type: "function", function: {name, arguments: args}}]});
  }
  delta({}, calls ? "tool_calls" : "stop");
  const used = sequence.tokenMeter.diff(before);
  if (body.stream_options?.include_usage)
    chunk([], {usage: {prompt_tokens: used.usedInputTokens, completion_tokens: used.usedOutputTokens}});
  response.end("data: [DONE]\n\n");
  seen.finished += 1;
}

const server = createServer((request, response) => {
  if (request.url === "/v1/models") return response.end(JSON.stringify({data: [{id: "smollm2"}]}));
  if (request.url === "/seen") return response.end(JSON.stringify(seen));
  let text = "";
  request.on("data", (piece) => text += piece);
  // One after the other: there is one sequence.
  request.on("end", () => turn = turn.then(() => answer(JSON.parse(text), response)).catch((error) => {
    console.error(error);
    response.destroy();
  }));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
