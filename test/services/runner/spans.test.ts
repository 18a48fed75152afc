import { describe, expect, it } from 'vitest';
import { type Attributes, type Span, silentTracer, type Tracer } from '../../../lib/telemetry/tracer.ts';
import { startTrace, type Trace } from '../../../lib/trace.ts';
import { createCountingTool } from './counting.ts';
import { open, script } from './open.ts';
import { asked } from './sessions.ts';

interface Recorded {
  name: string;
  trace: Trace;
  parent: Trace | undefined;
  attributes: Record<string, unknown>;
  error: string | undefined;
  ended: boolean;
}

/** Remembers every span. */
function createRecorder(): { tracer: Tracer; spans: Recorded[] } {
  const spans: Recorded[] = [];
  const tracer: Tracer = {
    ...silentTracer,
    silent: false,
    begin(name, options): Span {
      const trace = startTrace();
      const span: Recorded = {
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
  it('has each call of a tool, by the names of OpenTelemetry, and without a word of what was said', async () => {
    const { tracer, spans } = createRecorder();
    const count = createCountingTool();
    count.answer = (label) => {
      if (label === 'wrong') throw new Error('a secret');
      return 'a secret';
    };
    await using world = await open({ tools: [count.tool], tracer });
    const steps = ['right', 'wrong'].map((label) => ({ tool: 'count', input: { label } }));
    world.ask(script(...steps, { tool: 'fly' }), asked('trn_1', ''));
    await world.ended('trn_1');
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
