import type { JSONValue } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import { outputOf } from './output.ts';
import { Answer, type KnownTool, type ToolCall } from './tool.ts';

/** What became of one call that was sent to its tool. */
export type ToolEnd =
  | { kind: 'done'; output: JSONValue; isError: boolean; workspaceVersion?: number | undefined }
  /** `cause` is a code for traces, `output` is what the model is told. */
  | { kind: 'failed'; output: string; cause: 'tool_error' | 'tool_timeout' }
  /** The signal aborted before the tool was done. */
  | { kind: 'stopped' }
  /** Somebody else holds the turn now. */
  | { kind: 'lost' };

export interface RunOptions {
  clock: Clock;
  timeoutSeconds: number;
}

export const EFFECT_UNKNOWN = 'Whether it took effect is unknown.';

/**
 * Sends a call to its tool. It has until the signal aborts or its time is up, whether it listens or not: what it
 * says later is not heard. Never fails.
 */
export async function runTool(
  tool: KnownTool,
  input: Record<string, unknown>,
  { signal, progress, ...call }: ToolCall,
  { clock, timeoutSeconds }: RunOptions,
): Promise<ToolEnd> {
  if (signal.aborted) return { kind: 'stopped' };
  const own = new AbortController();
  const { promise, resolve } = Promise.withResolvers<ToolEnd>();
  const leave = (end: ToolEnd) => {
    resolve(end);
    own.abort();
  };
  const stop = () => leave({ kind: 'stopped' });
  signal.addEventListener('abort', stop, { once: true });
  const late = () => leave(timeout(tool, timeoutSeconds));
  const cancel = tool.endsItself ? () => {} : clock.after(timeoutSeconds * 1_000, late);
  let isOver = false;
  const told: ToolCall = {
    ...call,
    signal: own.signal,
    progress: (text) => {
      if (!isOver) progress(text);
    },
  };
  void work(tool, input, told).then(resolve);
  const end = await promise;
  isOver = true;
  cancel();
  signal.removeEventListener('abort', stop);
  return end;
}

async function work(tool: KnownTool, input: Record<string, unknown>, call: ToolCall): Promise<ToolEnd> {
  try {
    const given = await tool.run(input, call);
    const { output, facts } = given instanceof Answer ? given : { output: given, facts: {} };
    return { kind: 'done', isError: false, ...facts, output: outputOf(output) };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'LEASE_LOST') return { kind: 'lost' };
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', output: String(outputOf(message || 'The tool failed.')), cause: 'tool_error' };
  }
}

function timeout({ kind }: KnownTool, seconds: number): ToolEnd {
  const unknown = kind.effect === 'read' ? '' : ` ${EFFECT_UNKNOWN}`;
  const output = `The tool did not finish within ${seconds} seconds.${unknown}`;
  return { kind: 'failed', output, cause: 'tool_timeout' };
}
