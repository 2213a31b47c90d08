// An agent in Node that sends spans with OpenTelemetry's own exporters: `node spans.mjs http/json|http/protobuf`.
import { createRequire } from "node:module";

const load = createRequire(`${process.env.NODE_PACKAGES}/`);
const { trace, context } = load("@opentelemetry/api");
const { NodeTracerProvider, BatchSpanProcessor } = load("@opentelemetry/sdk-trace-node");
const kind = process.argv[2] === "http/json" ? "http" : "proto";
const { OTLPTraceExporter } = load(`@opentelemetry/exporter-trace-otlp-${kind}`);

const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
const tracer = provider.getTracer("agent");
const ask = { role: "user", parts: [{ type: "text", content: "Refund A-7" }] };
const call = { type: "tool_call", id: "c1", name: "find_order", arguments: { order: "A-7" } };
const asked = { role: "assistant", parts: [call] };
const result = { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "delivered" }] };
const done = { role: "assistant", parts: [{ type: "text", content: "Your order A-7 is refunded." }] };

function chat(given, answered) {
  const span = tracer.startSpan("chat gpt-fake");
  span.setAttributes({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-fake",
    "gen_ai.usage.input_tokens": 30,
    "gen_ai.usage.output_tokens": 7,
    "gen_ai.input.messages": JSON.stringify(given),
    "gen_ai.output.messages": JSON.stringify([answered]),
  });
  span.end();
}

chat([ask], asked);
const tool = tracer.startSpan("execute_tool find_order");
tool.setAttributes({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": "find_order",
  "gen_ai.tool.call.id": "c1",
  "gen_ai.tool.call.arguments": JSON.stringify(call.arguments),
  "gen_ai.tool.call.result": "delivered",
});
tool.end();
chat([ask, asked, result], done);
await provider.shutdown();
