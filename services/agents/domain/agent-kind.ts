import { type Refusal, refuse } from '../../../lib/errors.ts';

/** Agents and assistants share tables and code. A look-up of one kind never returns one of the other kind. */
export interface AgentKind {
  /** The prefix of ids. */
  prefix: 'agt' | 'ast';
  noun: 'agent' | 'assistant';
  /** Names of the RPCs, which scope idempotency keys and cursors. */
  createMethod: string;
  listMethod: string;
  /** Each agent of this kind has its own workspace, which is deleted together with the agent. */
  hasWorkspace: boolean;
  /** Returns the same error for an id that does not exist and for an agent that the caller cannot see. */
  notFound(): Refusal;
}

export const AGENT_KIND: AgentKind = {
  prefix: 'agt',
  noun: 'agent',
  createMethod: 'CreateAgent',
  listMethod: 'ListAgents',
  hasWorkspace: false,
  notFound: () =>
    refuse('AGENT_NOT_FOUND', 'Unknown agent. It does not exist, or you do not have access to it.'),
};

export const ASSISTANT_KIND: AgentKind = {
  prefix: 'ast',
  noun: 'assistant',
  createMethod: 'CreateAssistant',
  listMethod: 'ListAssistants',
  hasWorkspace: true,
  notFound: () =>
    refuse('ASSISTANT_NOT_FOUND', 'Unknown assistant. It does not exist, or you do not have access to it.'),
};
