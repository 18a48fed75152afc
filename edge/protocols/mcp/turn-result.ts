import { Type } from 'typebox';
import type { GetTurnResponse, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { nullable, optional } from '../../schemas/common.ts';
import { serializeUsage } from '../../schemas/usage.ts';
import { fileLink } from './file-link.ts';
import type { McpOperation } from './operation.ts';
import { PendingApproval, pendingApprovals } from './pending-approvals.ts';
import { PendingQuestion, pendingQuestions } from './pending-questions.ts';
import { fileUri } from './resources/uri.ts';
import type { ToolResult } from './tool.ts';
import { turnFiles } from './turn-files.ts';
import type { AwaitedTurn } from './waiting.ts';

const Usage = Type.Object({
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cached_input_tokens: Type.Integer(),
  cache_write_tokens: Type.Integer(),
  reasoning_tokens: Type.Integer(),
  estimated: Type.Boolean(),
  steps: Type.Integer(),
  tool_calls: Type.Integer(),
  active_seconds: Type.Number(),
});

/** The result of the tools that wait for a turn. */
export const TurnResult = Type.Object({
  session_id: Type.String({ description: 'Pass it to continue the conversation.' }),
  turn_id: nullable(Type.String(), { description: 'Null for a conversation without a message.' }),
  status: nullable(Type.Enum(['running', 'completed', 'failed', 'interrupted', 'blocked']), {
    description:
      '`running`: call `wait_for_turn`. `blocked`: the agent waits for the approvals or questions. Null without a turn.',
  }),
  text: Type.String({ description: 'The last message of the agent.' }),
  output: optional(Type.Unknown({ description: 'The structured output of an agent that has one.' })),
  error: optional(Type.Object({ code: Type.String(), message: Type.String() })),
  approvals: Type.Array(PendingApproval),
  questions: Type.Array(PendingQuestion),
  files: Type.Array(Type.Object({ path: Type.String(), size: Type.Integer(), uri: Type.String() }), {
    description: 'The files that the turn has written.',
  }),
  usage: Usage,
  console_url: Type.String({ description: 'The conversation in the console, for people.' }),
});

const STATUSES: Readonly<Record<string, string>> = {
  queued: 'running',
  in_progress: 'running',
  blocked: 'blocked',
  completed: 'completed',
  failed: 'failed',
  interrupted: 'interrupted',
  cancelled: 'interrupted',
};

/** The result of a conversation that has no turn. */
export const resultWithoutTurn = (operation: McpOperation, sessionId: string): ToolResult =>
  emptyResult(operation, { sessionId, turnId: null, status: null });

/** The result of a turn about which only its ids are known. */
export const resultOfQueued = (operation: McpOperation, turn: AwaitedTurn): ToolResult =>
  emptyResult(operation, { ...turn, status: 'running' });

function emptyResult(
  operation: McpOperation,
  { sessionId, turnId, status }: { sessionId: string; turnId: string | null; status: string | null },
): ToolResult {
  return {
    structured: {
      ...{ session_id: sessionId, turn_id: turnId, status, text: '' },
      ...{ approvals: [], questions: [], files: [] },
      usage: serializeUsage(undefined),
      console_url: consoleUrl(operation, sessionId),
    },
  };
}

export async function turnResult(
  operation: McpOperation,
  { turn, lastMessage }: GetTurnResponse,
): Promise<ToolResult> {
  if (!turn) throw new Error('The sessions service returned no turn.');
  const { sessionId, status, outputJson, errorJson } = turn;
  const isBlocked = status === 'blocked';
  const [approvals, questions, files] = await Promise.all([
    isBlocked ? pendingApprovals(operation, turn) : [],
    isBlocked ? pendingQuestions(operation, turn) : [],
    isOpen(turn) ? [] : turnFiles(operation, turn),
  ]);
  return {
    structured: {
      ...{ session_id: sessionId, turn_id: turn.turnId, status: STATUSES[status] ?? 'running' },
      text: lastMessage ? textOf(lastMessage.json) : '',
      ...(outputJson === undefined ? {} : { output: JSON.parse(outputJson) }),
      ...(errorJson === '' ? {} : { error: JSON.parse(errorJson) }),
      ...{ approvals, questions },
      files: files.map(({ path, size }) => ({ path, size, uri: fileUri(sessionId, path) })),
      usage: serializeUsage(turn.usage),
      console_url: consoleUrl(operation, sessionId),
    },
    content: files.map((file) => fileLink(sessionId, file)),
  };
}

const isOpen = ({ status }: Turn) => status === 'queued' || status === 'in_progress';

export const consoleUrl = ({ context }: McpOperation, sessionId: string) =>
  `${context.publicOrigin()}/sessions/${sessionId}`;

/** The text parts of an `agent.message` event. */
function textOf(json: string): string {
  const { data } = JSON.parse(json) as { data: { content: { type: string; text?: string }[] } };
  return data.content.flatMap((part) => (part.type === 'text' ? (part.text ?? '') : [])).join('');
}
