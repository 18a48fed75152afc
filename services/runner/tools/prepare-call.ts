import type { Clock } from '../../../lib/clock.ts';
import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { PendingToolCall, Preparation } from '../tool-calls/tool-call.ts';
import { toJsonOutput } from './json-output.ts';
import type { RegisteredTool } from './tool.ts';

/** The result of `Tool.prepare`. */
export type PreparationEnd =
  | Preparation
  /** Whether the call can be sent cannot be checked now. */
  | { kind: 'unavailable'; cause: unknown }
  /** A defect. `output` is the error result for the model. */
  | { kind: 'failed'; output: string; exception: unknown }
  /** The signal aborted before the end. */
  | { kind: 'stopped' }
  /** Another runner has the lease of the turn. */
  | { kind: 'lost' };

const READY: PreparationEnd = { kind: 'ready' };

/** Prepares a call until the signal aborts or the timeout expires, which counts as unavailable. Never rejects. */
export async function prepareCall(
  tool: RegisteredTool,
  input: Record<string, unknown>,
  call: PendingToolCall,
  { clock, timeoutSeconds }: { clock: Clock; timeoutSeconds: number },
): Promise<PreparationEnd> {
  if (!tool.prepare) return READY;
  if (call.signal.aborted) return { kind: 'stopped' };
  const timeout = new AbortController();
  const cancelTimeout = clock.after(timeoutSeconds * 1_000, () => timeout.abort());
  const signal = AbortSignal.any([call.signal, timeout.signal]);
  try {
    return await abortable(tool.prepare({ ...call, signal }, input), signal);
  } catch (error) {
    if (call.signal.aborted) return { kind: 'stopped' };
    return timeout.signal.aborted ? { kind: 'unavailable', cause: error } : failureOf(error);
  } finally {
    cancelTimeout();
  }
}

function failureOf(error: unknown): PreparationEnd {
  if (!(error instanceof Refusal)) {
    return { kind: 'failed', output: 'The tool failed because of an internal error.', exception: error };
  }
  const { code, message } = error;
  if (code === 'LEASE_LOST') return { kind: 'lost' };
  if (ERRORS[code].retryable || code === 'INTERNAL') return { kind: 'unavailable', cause: error };
  return { kind: 'refused', output: String(toJsonOutput(message)) };
}
