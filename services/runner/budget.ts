import type { Budget as AgentBudget } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { Usage } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

/** What is left to a turn; infinite where its agent sets no limit. */
export interface Budget {
  /** Output tokens. */
  tokens: number;
  /** Milliseconds. */
  ms: number;
}

/** A turn has one budget for all of its attempts: what the earlier ones used is gone. */
export function budgetOf(agent: { budget: AgentBudget | undefined }, used: Usage | undefined): Budget {
  const { maxTokens = Number.POSITIVE_INFINITY, maxTurnSeconds = Number.POSITIVE_INFINITY } =
    agent.budget ?? {};
  return {
    tokens: maxTokens - (used?.outputTokens ?? 0),
    ms: maxTurnSeconds * 1_000 - (used?.activeMs ?? 0),
  };
}

export function isLimited({ tokens, ms }: Budget): boolean {
  return Number.isFinite(tokens) || Number.isFinite(ms);
}

export function isSpent({ tokens, ms }: Budget): boolean {
  return tokens <= 0 || ms <= 0;
}
