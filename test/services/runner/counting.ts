import { Type } from 'typebox';
import type { ToolKind } from '../../../lib/tools.ts';
import type { Tool, ToolCall } from '../../../services/runner/tools/tool.ts';
import { script } from './open.ts';

export interface CountingTool {
  tool: Tool;
  /** Every time it was run, however that ended. */
  runs: { label: string; call: ToolCall }[];
  /** What the next runs give; runs wait for it. By default each gives `done <label>` at once. */
  answer: (label: string, call: ToolCall) => unknown;
}

/** A tool that remembers each time it is run. */
export function createCountingTool(
  kind: Partial<ToolKind> & Pick<Tool, 'outcomeUnknown' | 'usesWorkspace'> & { name?: string } = {},
): CountingTool {
  const { name = 'count', outcomeUnknown, usesWorkspace, effect = 'once', permission = 'allow' } = kind;
  const counting: CountingTool = {
    tool: {
      name,
      kind: { effect, permission, about: 'Counts.' },
      outcomeUnknown,
      usesWorkspace,
      input: Type.Object({ label: Type.String() }, { additionalProperties: false }),
      run(input, call) {
        const label = String((input as { label: string }).label);
        counting.runs.push({ label, call });
        return counting.answer(label, call);
      },
    },
    runs: [],
    answer: (label) => `done ${label}`,
  };
  return counting;
}

/** A run that goes on until it is released, or aborted when it listens. */
export function held(isDeaf = false) {
  const release = Promise.withResolvers<string>();
  const answer = (_: string, { signal }: ToolCall) => {
    if (isDeaf) return release.promise;
    return new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      void release.promise.then(resolve);
    });
  };
  return { answer, release: () => release.resolve('released') };
}

/** An agent that calls the tool once for each label, all at once, and then says what the last of them gave. */
export function calling(...labels: string[]) {
  return script(...labels.map((label) => ({ tool: 'count', input: { label } })), {
    text: '{{last_tool_output}}',
  });
}
