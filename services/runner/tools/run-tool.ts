import type { JSONValue } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import {
  type AuthorizationDetails,
  AuthorizationNeeded,
  InputNeeded,
  OutcomeUnknown,
  type ToolCallContext,
  ToolOutput,
  type ToolOutputFacts,
} from '../tool-calls/tool-call.ts';
import { ToolError } from '../tool-calls/tool-error.ts';
import { inputRequestProblem } from './input-request.ts';
import { toJsonOutput } from './json-output.ts';
import type { RegisteredTool } from './tool.ts';

/** How a call that was sent to its tool ended. */
export type ToolEnd =
  | ({ kind: 'done'; output: JSONValue; isError: boolean } & ToolOutputFacts)
  /**
   * `cause` is a code for traces, `output` is the error result for the model. `exception` is set for failures that
   * must be logged.
   */
  | { kind: 'failed'; output: string; cause: 'tool_error' | 'tool_timeout'; exception?: unknown }
  /** The call continues when a person has given input. */
  | { kind: 'input_needed'; needed: InputNeeded }
  /** The call had no effect. It continues when a person has provided a credential. */
  | { kind: 'authorization_needed'; details: AuthorizationDetails }
  /** The call may have taken effect. A person decides how it continues. */
  | { kind: 'outcome_unknown'; cause: Error }
  /** The signal aborted before the tool was done. */
  | { kind: 'stopped' }
  /** Another runner has the lease of the turn. */
  | { kind: 'lost' };

interface RunToolOptions {
  clock: Clock;
  timeoutSeconds: number;
  /** Receives a promise that resolves when the tool has ended, which can be after `runTool` has returned. */
  onStart?(execution: Promise<unknown>): void;
}

export const EFFECT_UNKNOWN = 'Whether it took effect is unknown.';

/**
 * Runs a tool until it ends, the signal aborts or the timeout expires, whichever comes first. A later result of a
 * tool that ignores its signal is dropped. Never rejects.
 */
export async function runTool(
  tool: RegisteredTool,
  input: Record<string, unknown>,
  { signal, progress, ...call }: ToolCallContext,
  { clock, timeoutSeconds, onStart }: RunToolOptions,
): Promise<ToolEnd> {
  if (signal.aborted) return { kind: 'stopped' };
  const own = new AbortController();
  const { promise, resolve } = Promise.withResolvers<ToolEnd>();
  const abort = (end: ToolEnd) => {
    resolve(end);
    own.abort();
  };
  const stop = () => abort({ kind: 'stopped' });
  signal.addEventListener('abort', stop, { once: true });
  const cancelTimeout = tool.hasOwnTimeout
    ? () => {}
    : clock.after(timeoutSeconds * 1_000, () => abort(timedOut(tool, timeoutSeconds)));
  let isOver = false;
  const context: ToolCallContext = {
    ...call,
    signal: own.signal,
    progress: (text) => {
      if (!isOver) progress(text);
    },
  };
  const execution = execute(tool, input, context).then(resolve);
  onStart?.(execution);
  const end = await promise;
  isOver = true;
  cancelTimeout();
  signal.removeEventListener('abort', stop);
  return end;
}

async function execute(
  tool: RegisteredTool,
  input: Record<string, unknown>,
  call: ToolCallContext,
): Promise<ToolEnd> {
  try {
    const value = await tool.run(input, call);
    if (value instanceof AuthorizationNeeded) return { kind: 'authorization_needed', details: value.details };
    if (value instanceof OutcomeUnknown) return { kind: 'outcome_unknown', cause: value.cause };
    if (value instanceof InputNeeded) return await inputEnd(value);
    const { output, facts } = value instanceof ToolOutput ? value : { output: value, facts: {} };
    return { kind: 'done', isError: false, ...facts, output: toJsonOutput(output) };
  } catch (error) {
    return failureOf(error, tool);
  }
}

async function inputEnd(needed: InputNeeded): Promise<ToolEnd> {
  const problem = await inputRequestProblem(needed);
  if (problem === undefined) return { kind: 'input_needed', needed };
  const output = `The tool asked for input in a form that cannot be shown: ${problem}`;
  return { kind: 'failed', output, cause: 'tool_error' };
}

/** Only the messages of a ToolError and of a refusal are written for the model. Other exceptions are defects. */
function failureOf(error: unknown, { kind }: RegisteredTool): ToolEnd {
  if (error instanceof Refusal && error.code === 'LEASE_LOST') return { kind: 'lost' };
  const failed = { kind: 'failed', cause: 'tool_error' } as const;
  if (error instanceof ToolError || (error instanceof Refusal && error.code !== 'INTERNAL')) {
    const isLogged = error instanceof ToolError && error.cause !== undefined;
    return { ...failed, output: String(toJsonOutput(error.message)), ...(isLogged && { exception: error }) };
  }
  const output = `The tool failed because of an internal error.${effectNote(kind.effect)}`;
  return { ...failed, output, exception: error };
}

function timedOut({ kind }: RegisteredTool, seconds: number): ToolEnd {
  const output = `The tool did not finish within ${seconds} seconds.${effectNote(kind.effect)}`;
  return { kind: 'failed', output, cause: 'tool_timeout' };
}

/** Ends the error text of a call that was cut off. A tool that only reads has no effect. */
export function effectNote(effect: RegisteredTool['kind']['effect']): string {
  return effect === 'read' ? '' : ` ${EFFECT_UNKNOWN}`;
}
