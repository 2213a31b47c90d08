// promptfoo's verdicts: reads cases as JSON from stdin, writes whether each passes.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { assertions } = await import(pathToFileURL(process.argv[2]).href);
const verdicts = {};
for (const { id, check, run } of JSON.parse(readFileSync(0, 'utf8'))) {
  const calls = run.calls ?? [];
  const asked = calls.map(([name, args]) => ({ function: { name, arguments: JSON.stringify(args) } }));
  const skillCalls = calls.filter(([name]) => name === 'Skill').map(([, args]) => ({ name: args.skill }));
  const spans = calls.map(([name, args], index) => ({
    spanId: `${index}`,
    name: 'call',
    startTime: index,
    attributes: { 'tool.name': name, 'tool.arguments': JSON.stringify(args) },
  }));
  const output = check.type.endsWith('tool-call-f1') ? { tool_calls: asked } : run.answer;
  const result = await assertions.runAssertions({
    test: { vars: {}, assert: [check] },
    providerResponse: { output, cost: run.cost, finishReason: run.reason, metadata: { skillCalls } },
    latencyMs: run.seconds === undefined ? undefined : run.seconds * 1000,
  }).catch(() => null);
  const traced = check.type.includes('trajectory:')
    ? await assertions.runAssertion({
        assertion: check,
        test: { vars: {} },
        providerResponse: { output },
        traceId: 'a',
        traceData: { traceId: 'a', spans },
      })
    : result;
  verdicts[id] = traced?.pass ?? null;
}
process.stdout.write(JSON.stringify(verdicts));
process.exit(0);
