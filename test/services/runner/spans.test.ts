import { describe, expect, it } from 'vitest';
import { type Attributes, type Span, silentTracer, type Tracer } from '../../../lib/telemetry/tracer.ts';
import { startTrace, type Trace } from '../../../lib/trace.ts';
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
    const turn = spans.find(({ name }) => name === 'turn');
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
});
