import { estimateTextTokens } from '../../../lib/token-estimate.ts';
import type { ContextWindows } from '../context/context-windows.ts';
import { estimateFiles, estimateMessages, estimateToolTokens } from '../context/estimate-tokens.ts';
import type { Model } from '../models/registry.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { type ModelTurnState, systemAndSchema } from './run-model-step.ts';

/** Adds an estimate of the model's input, as the turn has it now, to the next report. */
export function noteContext(
  { outbox }: LeasedTurn,
  { runtime, messages, window, threshold }: ModelTurnState,
  model: Model,
  { windows }: { windows: Pick<ContextWindows, 'ratioOf'> },
): void {
  const files = estimateFiles(messages);
  outbox.setContext({
    model: runtime.model,
    system: estimateTextTokens(systemAndSchema(runtime, model).system ?? ''),
    tools: estimateToolTokens(runtime.toolbox.definitions),
    history: estimateMessages(messages) - files,
    files,
    ratio: windows.ratioOf(runtime.model),
    window: window?.window,
    windowSource: window?.windowSource,
    threshold: window && threshold,
  });
}
