import { type Refusal, refuse } from '../../../lib/errors.ts';

/** The two kinds of what is here called an agent. Neither is ever found as one of the other kind. */
export interface Kind {
  /** Of its ids. */
  prefix: 'agt' | 'ast';
  noun: string;
  /** Under which requests are known. */
  creation: string;
  list: string;
  /** It has a workspace of its own, which goes when it does. */
  hasWorkspace: boolean;
  /** Somebody else's looks like one that is not there. */
  notFound(): Refusal;
}

export const AGENT: Kind = {
  prefix: 'agt',
  noun: 'agent',
  creation: 'CreateAgent',
  list: 'ListAgents',
  hasWorkspace: false,
  notFound: () => refuse('AGENT_NOT_FOUND', 'there is no such agent, or it is not yours'),
};

export const ASSISTANT: Kind = {
  prefix: 'ast',
  noun: 'assistant',
  creation: 'CreateAssistant',
  list: 'ListAssistants',
  hasWorkspace: true,
  notFound: () => refuse('ASSISTANT_NOT_FOUND', 'there is no such assistant, or it is not yours'),
};
