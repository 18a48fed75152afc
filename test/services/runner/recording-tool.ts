import { Type } from 'typebox';
import type { ToolKind } from '../../../lib/tools.ts';
import type { ToolCallContext } from '../../../services/runner/tool-calls/tool-call.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { script } from './runner-fixture.ts';

export interface RecordingTool {
  tool: Tool;
  /** All runs, with any result. */
  runs: { label: string; call: ToolCallContext }[];
  /** Produces the result of the next runs, which await it. By default it returns `done <label>`. */
  answer: (label: string, call: ToolCallContext) => unknown;
}

/** Creates a tool that records each run. */
export function createRecordingTool(
  kind: Partial<ToolKind> & Pick<Tool, 'outcomeUnknown' | 'usesWorkspace'> & { name?: string } = {},
): RecordingTool {
  const { name = 'count', outcomeUnknown, usesWorkspace, effect = 'once', permission = 'allow' } = kind;
  const recording: RecordingTool = {
    tool: {
      name,
      kind: { effect, permission, about: 'Counts.' },
      outcomeUnknown,
      usesWorkspace,
      input: Type.Object({ label: Type.String() }, { additionalProperties: false }),
      run(input, call) {
        const label = String((input as { label: string }).label);
        recording.runs.push({ label, call });
        return recording.answer(label, call);
      },
    },
    runs: [],
    answer: (label) => `done ${label}`,
  };
  return recording;
}

/** An answer that waits until it is released or, unless `ignoresSignal`, until its signal aborts. */
export function pendingAnswer(ignoresSignal = false) {
  const release = Promise.withResolvers<string>();
  const answer = (_: string, { signal }: ToolCallContext) => {
    if (ignoresSignal) return release.promise;
    return new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      void release.promise.then(resolve);
    });
  };
  return { answer, release: () => release.resolve('released') };
}

/** Returns an agent that calls the tool once per label in one step and answers with the last output. */
export function calling(...labels: string[]) {
  return script(...labels.map((label) => ({ tool: 'count', input: { label } })), {
    text: '{{last_tool_output}}',
  });
}
