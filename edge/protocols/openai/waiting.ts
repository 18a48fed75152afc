import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Approval, ToolCall } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../../clients.ts';
import type { RouteContext } from '../../route.ts';
import type { AnswerFold } from './answer-fold.ts';
import type { StartedTurn } from './start-turn.ts';

const PENDING = { status: 'pending', page: { limit: 100, cursor: '' } };
/** A question is quoted up to this length. */
const MAX_QUESTION = 2_000;

/**
 * The text with which the answer of a turn ends that waits: what it waits for, and where a person answers. The protocol has
 * no form for it. Empty for a turn that has ended.
 */
export async function sentenceAfter(
  { clients, publicOrigin }: Pick<RouteContext, 'clients' | 'publicOrigin'>,
  call: CallOptions,
  started: Pick<StartedTurn, 'sessionId' | 'turnId'>,
  fold: AnswerFold,
): Promise<string> {
  if (fold.end) return '';
  const sentence = await sentenceOf(clients, call, started);
  const url = `${publicOrigin()}/sessions/${started.sessionId}`;
  return `${fold.text === '' ? '' : '\n\n'}${sentence} Answer at ${url} and the agent continues.`;
}

async function sentenceOf(
  { sessions }: Pick<Clients, 'sessions'>,
  call: CallOptions,
  { sessionId, turnId }: Pick<StartedTurn, 'sessionId' | 'turnId'>,
): Promise<string> {
  const [{ approvals }, { toolCalls }] = await Promise.all([
    sessions.listApprovals({ sessionId, ...PENDING }, call),
    sessions.listToolCalls({ sessionId, ...PENDING }, call),
  ]);
  const reasons = [
    ...approvals.filter((one) => one.turnId === turnId).map(approvalReason),
    ...toolCalls.filter((one) => one.turnId === turnId).map(callReason),
  ];
  const distinct = [...new Set(reasons)];
  return distinct.length > 0 ? distinct.join(' ') : 'The agent waits for a person.';
}

function approvalReason({ kind, toolName, detailsJson }: Approval): string {
  switch (kind) {
    case 'tool':
      return `The agent waits for permission to call the tool ${toolName}.`;
    case 'outcome_unknown':
      return `A call of the tool ${toolName} was cut off, and the agent waits for a decision about it.`;
    case 'authorization':
      return `The agent waits for access to ${nameIn(detailsJson) ?? 'a service'}.`;
    default:
      return `The agent waits for input for the tool ${toolName}.`;
  }
}

function callReason({ kind, name, inputJson }: ToolCall): string {
  if (kind !== 'input') return `The agent waits for the result of the client tool ${name}.`;
  const { message } = JSON.parse(inputJson) as { message?: unknown };
  return typeof message === 'string'
    ? `The agent asks: ${message.slice(0, MAX_QUESTION).toWellFormed()}`
    : 'The agent waits for an answer to a question.';
}

function nameIn(detailsJson: string | undefined): string | undefined {
  const { name } = JSON.parse(detailsJson || '{}') as { name?: string };
  return name;
}
