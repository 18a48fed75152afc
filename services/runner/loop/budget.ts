import type { Budget as AgentBudget } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The remaining budget of a turn; infinite where the agent sets no limit. */
export interface RemainingBudget {
  /** Output tokens. */
  tokens: number;
  /** Milliseconds. */
  ms: number;
}

/** All attempts of a turn share one budget: `used` is what the earlier attempts consumed. */
export function remainingBudget(
  agent: { budget: AgentBudget | undefined },
  used: Usage | undefined,
): RemainingBudget {
  const { maxTokens = Number.POSITIVE_INFINITY, maxTurnSeconds = Number.POSITIVE_INFINITY } =
    agent.budget ?? {};
  return {
    tokens: maxTokens - (used?.outputTokens ?? 0),
    ms: maxTurnSeconds * 1_000 - (used?.activeMs ?? 0),
  };
}

export function isLimited({ tokens, ms }: RemainingBudget): boolean {
  return Number.isFinite(tokens) || Number.isFinite(ms);
}

export function isSpent({ tokens, ms }: RemainingBudget): boolean {
  return tokens <= 0 || ms <= 0;
}
