import { contextRules } from '../../../lib/context-settings.ts';
import type { Outcome } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { estimateMessages } from '../context/estimate-tokens.ts';
import type { ModelOutages } from '../models/model-outages.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { estimateFixed } from './estimate-input.ts';
import { type FitOptions, fitContext, type UsableAccess } from './fit-context.ts';
import { noteContext } from './note-context.ts';
import { type RequestStepOptions, requestStep } from './request-step.ts';
import type { ModelStepRun, ModelTurnState } from './run-model-step.ts';

export interface ContextOptions extends RequestStepOptions, Omit<FitOptions, keyof RequestStepOptions> {
  files: RequestStepOptions['files'] & FitOptions['files'];
  outages: ModelOutages;
}

type StepInContext = ModelStepRun | { kind: 'ended'; outcome: Outcome };

const STOPPED: ModelStepRun = {
  end: { kind: 'stopped', hasBegun: false },
  content: undefined,
  checked: undefined,
};

/**
 * Requests the next step of a turn. A history that is too long for the model is shortened before, and once more when the
 * provider refuses the request because of its length. Resolves with an outcome when the request cannot be made short enough.
 */
export async function requestInContext(
  turn: LeasedTurn,
  state: ModelTurnState,
  access: UsableAccess,
  options: ContextOptions,
): Promise<StepInContext> {
  const { model: name, context } = state.runtime;
  const { windows } = options;
  const rules = contextRules(context);
  state.window = await windows.find(name, rules.window);
  if (state.window) {
    const { window } = state.window;
    const fit = await fitContext(turn, state, access, { rules, window, isRefused: false }, options);
    if (fit.kind === 'ended') return fit;
    if (fit.kind === 'stopped') return STOPPED;
  }
  const run = await requestMeasured(turn, state, access, options);
  const refusal = run.end.kind === 'failed' ? run.end.failure.length : undefined;
  if (!refusal || turn.stopCause) return run;
  await windows.refuse(name, refusal, estimateOf(state, access));
  state.window = await windows.find(name, rules.window);
  const window = state.window?.window;
  if (rules.strategy === 'none' || window === undefined) return run;
  const fit = await fitContext(turn, state, access, { rules, window, isRefused: true }, options);
  if (fit.kind === 'ended') return fit;
  return fit.kind === 'stopped' ? STOPPED : requestMeasured(turn, state, access, options);
}

/** Requests a step and notes how long its input was. */
async function requestMeasured(
  turn: LeasedTurn,
  state: ModelTurnState,
  access: UsableAccess,
  options: ContextOptions,
): Promise<ModelStepRun> {
  noteContext(turn, state, access.model, options);
  const run = await requestStep(turn, state, access, options);
  state.isHistoryCurrent = false;
  state.begunFallback = undefined;
  const { end } = run;
  if (end.kind === 'finished') options.outages.answered(state.runtime.model);
  // A model in this process counts words.
  if (end.kind === 'finished' && access.model.server)
    options.windows.accept(state.runtime.model, end.inputTokens, estimateOf(state, access));
  return run;
}

function estimateOf(state: ModelTurnState, { model }: UsableAccess): number {
  return estimateFixed(state, model) + estimateMessages(state.messages);
}
