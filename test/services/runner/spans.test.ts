import { describe, expect, it } from 'vitest';
import { type Attributes, type Span, silentTracer, type Tracer } from '../../../lib/telemetry/tracer.ts';
import { startTrace, type Trace, traceparent } from '../../../lib/trace.ts';
import { openai } from '../../support/providers/openai.ts';
import { openProvider } from '../../support/providers/server.ts';
import { queuedTurn } from './fake-sessions.ts';
import { createRecordingTool } from './recording-tool.ts';
import { openTestRunner, script } from './runner-fixture.ts';

interface RecordedSpan {
  name: string;
  trace: Trace;
  parent: Trace | undefined;
  attributes: Record<string, unknown>;
  error: string | undefined;
  ended: boolean;
}

/** Creates a tracer that records every span. */
function createRecorder(): { tracer: Tracer; spans: RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const tracer: Tracer = {
    ...silentTracer,
    silent: false,
    begin(name, options): Span {
      const trace = startTrace();
      const span: RecordedSpan = {
        name,
        trace,
        parent: options?.parent,
        attributes: {},
        error: undefined,
        ended: false,
      };
      spans.push(span);
      return {
        trace,
        silent: false,
        set: (attributes: Attributes) => void Object.assign(span.attributes, attributes),
        rename(name) {
          span.name = name;
        },
        link() {},
        end(error) {
          span.ended = true;
          span.error = error;
        },
      };
    },
  };
  return { tracer, spans };
}

describe('the trace of a turn', () => {
  it('has a span per tool call with OpenTelemetry names and without content', async () => {
    const { tracer, spans } = createRecorder();
    const count = createRecordingTool();
    count.answer = (label) => {
      if (label === 'wrong') throw new Error('a secret');
      return 'a secret';
    };
    await using fixture = await openTestRunner({ tools: [count.tool], tracer });
    const steps = ['right', 'wrong'].map((label) => ({ tool: 'count', input: { label } }));
    fixture.queueTurns(script(...steps, { tool: 'fly' }), queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    const turn = spans.find(({ name }) => name === 'invoke_agent Porter');
    const calls = spans.filter(({ name }) => name.startsWith('execute_tool'));
    expect(calls).toMatchObject(
      [undefined, 'tool_error'].map((error, index) => ({
        name: 'execute_tool count',
        parent: turn?.trace,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'count',
          'gen_ai.tool.call.id': `call_1_${index + 1}`,
          'gen_ai.tool.type': 'function',
          'gen_ai.conversation.id': 'ses_trn_1',
        },
        error,
        ended: true,
      })),
    );
    expect(spans.filter(({ name }) => name.startsWith('chat ')).length).toBe(2);
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  it('describes a model call so that a viewer can price it', async () => {
    const { tracer, spans } = createRecorder();
    await using server = await openProvider(openai);
    await using fixture = await openTestRunner({ tracer, providers: openai.settings(server.url) });
    const tokens = { input: 90, output: 30, cached: 40, reasoning: 20 };
    server.enqueue({ parts: [{ text: 'Hello.' }], tokens });
    const modelOptionsJson = '{"temperature":0.5}';
    fixture.queueTurns({ model: openai.model, modelOptionsJson }, queuedTurn('trn_1', 'Hi'));
    await fixture.waitForOutcome('trn_1');
    const address = { 'server.address': '127.0.0.1', 'server.port': Number(new URL(server.url).port) };
    const model = { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-5-mini', ...address };
    const turn = spans.find(({ name }) => name === 'invoke_agent Porter');
    expect(turn?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'Porter',
      'gen_ai.agent.version': '1',
      'gen_ai.conversation.id': 'ses_trn_1',
      ...model,
    });
    expect(spans.find(({ name }) => name === 'chat gpt-5-mini')).toMatchObject({
      parent: turn?.trace,
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...model,
        'gen_ai.request.stream': true,
        'gen_ai.response.id': 'resp_test',
        'gen_ai.response.model': 'gpt-5-mini',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 90,
        'gen_ai.usage.cache_read.input_tokens': 40,
        'gen_ai.usage.output_tokens': 30,
        'gen_ai.usage.reasoning.output_tokens': 20,
      },
    });
    expect(server.requests[0]?.headers.traceparent).toBeUndefined();
  });

  it.each(['openai', '127.0.0.1'])(
    'is passed on to model providers that the operator names: %s',
    async (name) => {
      const { tracer, spans } = createRecorder();
      await using server = await openProvider(openai);
      const providers = { ...openai.settings(server.url), modelTraceContext: [name] };
      await using fixture = await openTestRunner({ tracer, providers });
      server.enqueue({ parts: [{ text: 'Hello.' }] });
      fixture.queueTurns({ model: openai.model }, queuedTurn('trn_1', 'Hi'));
      await fixture.waitForOutcome('trn_1');
      const call = spans.find(({ name }) => name.startsWith('chat '));
      expect(server.requests[0]?.headers.traceparent).toBe(traceparent(call!.trace));
    },
  );
});
