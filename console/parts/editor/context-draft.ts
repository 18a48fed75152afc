import type { ContextSettings } from '../../gen/index.ts';
import { decimalNumber, type FieldProblems, wholeNumber } from './problems.ts';

export type ContextStrategy = NonNullable<ContextSettings['strategy']>;

/** The setting `context` as the values of the form fields. An empty field stands for the default. */
export interface ContextDraft {
  contextStrategy: '' | ContextStrategy;
  contextThreshold: string;
  contextKeepTurns: string;
  contextWindow: string;
  contextModel: string;
  contextInstructions: string;
}

export const DEFAULT_STRATEGY: ContextStrategy = 'summarize';

export const EMPTY_CONTEXT_DRAFT: ContextDraft = {
  contextStrategy: '',
  contextThreshold: '',
  contextKeepTurns: '',
  contextWindow: '',
  contextModel: '',
  contextInstructions: '',
};

export function contextDraftOf(settings: ContextSettings): ContextDraft {
  return {
    contextStrategy: settings.strategy ?? '',
    contextThreshold: settings.threshold?.toString() ?? '',
    contextKeepTurns: settings.keep_turns?.toString() ?? '',
    contextWindow: settings.window?.toString() ?? '',
    contextModel: settings.model ?? '',
    contextInstructions: settings.instructions ?? '',
  };
}

/** Parses the fields. The result has only the members that differ from the default. */
export function readContextDraft(draft: ContextDraft): { context: ContextSettings; problems: FieldProblems } {
  const threshold = decimalNumber(draft.contextThreshold, { min: 0.1, max: 0.95 });
  const keepTurns = wholeNumber(draft.contextKeepTurns, { min: 1, max: 100, optional: true });
  const window = wholeNumber(draft.contextWindow, { min: 1_000, max: 100_000_000, optional: true });
  const problems: FieldProblems = {};
  if (threshold.problem !== undefined) problems['/context/threshold'] = threshold.problem;
  if (keepTurns.problem !== undefined) problems['/context/keep_turns'] = keepTurns.problem;
  if (window.problem !== undefined) problems['/context/window'] = window.problem;
  const context: ContextSettings = {};
  if (draft.contextStrategy !== '') context.strategy = draft.contextStrategy;
  if (threshold.value !== undefined) context.threshold = threshold.value;
  if (keepTurns.value !== undefined) context.keep_turns = keepTurns.value;
  if (draft.contextModel.trim() !== '') context.model = draft.contextModel.trim();
  if (draft.contextInstructions.trim() !== '') context.instructions = draft.contextInstructions;
  if (window.value !== undefined) context.window = window.value;
  return { context, problems };
}

/** Whether a field differs from the default. */
export const isContextSet = (draft: ContextDraft): boolean =>
  [
    draft.contextStrategy,
    draft.contextThreshold,
    draft.contextKeepTurns,
    draft.contextWindow,
    draft.contextModel,
    draft.contextInstructions,
  ].some((value) => value !== '');
