import type { Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

export const NO_USAGE: Readonly<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  steps: 0,
  toolCalls: 0,
  activeMs: 0,
};

/** The sum is estimated if one of its parts is. */
export function addUsage(a: Readonly<Usage>, b: Readonly<Partial<Usage>>): Usage {
  return {
    inputTokens: a.inputTokens + (b.inputTokens ?? 0),
    outputTokens: a.outputTokens + (b.outputTokens ?? 0),
    cachedInputTokens: a.cachedInputTokens + (b.cachedInputTokens ?? 0),
    cacheWriteTokens: a.cacheWriteTokens + (b.cacheWriteTokens ?? 0),
    reasoningTokens: a.reasoningTokens + (b.reasoningTokens ?? 0),
    estimated: a.estimated || (b.estimated ?? false),
    steps: a.steps + (b.steps ?? 0),
    toolCalls: a.toolCalls + (b.toolCalls ?? 0),
    activeMs: a.activeMs + (b.activeMs ?? 0),
  };
}
