import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { serializeUsage } from '../../schemas/usage.ts';
import { pendingApprovals } from '../mcp/pending-approvals.ts';
import { pendingQuestions } from '../mcp/pending-questions.ts';
import { AnswerFold } from '../openai/answer-fold.ts';
import { readAnswer } from '../openai/read-answer.ts';
import { sentenceAfter } from '../openai/waiting.ts';
import { fileArtifacts } from './file-artifacts.ts';
import { type A2aOperation, taskIdOf } from './operation.ts';
import { answerOf, dataPart, textPart } from './parts.ts';

const STATES: Readonly<Record<string, TaskState>> = {
  queued: TaskState.TASK_STATE_SUBMITTED,
  in_progress: TaskState.TASK_STATE_WORKING,
  blocked: TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  interrupted: TaskState.TASK_STATE_CANCELED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};
const OPEN = ['queued', 'in_progress', 'blocked'];
export const isFinal = ({ status }: Turn) => !OPEN.includes(status);

function messageOf(turn: Turn, role: Role, parts: Part[]): Message {
  const place = { contextId: turn.sessionId, taskId: taskIdOf(turn) };
  const messageId = `${turn.turnId}-${role === Role.ROLE_USER ? 'request' : 'status'}`;
  return { ...place, messageId, role, parts, metadata: undefined, extensions: [], referenceTaskIds: [] };
}

export const stateOf = ({ status }: Turn) => STATES[status] ?? TaskState.TASK_STATE_UNSPECIFIED;

/** The time of the last change of a turn's status that is stored: its end, its start, or its creation. */
export const updatedAt = ({ finishedAt, startedAt, createdAt }: Turn) => finishedAt ?? startedAt ?? createdAt;

/** The status of a task. Of a task that waits, the message says what for, with data parts for what a client can answer. */
export async function statusOf(operation: A2aOperation, turn: Turn): Promise<TaskStatus> {
  const timestamp = updatedAt(turn)?.toISOString();
  const status = { state: stateOf(turn), timestamp };
  const said = (parts: Part[]) => messageOf(turn, Role.ROLE_AGENT, parts);
  if (turn.status === 'failed') {
    const { code, message } = JSON.parse(turn.errorJson || '{}') as { code?: string; message?: string };
    return { ...status, message: said([textPart(`${message} (${code})`)]) };
  }
  if (turn.status !== 'blocked') return { ...status, message: undefined };
  const [approvals, questions, sentence] = await Promise.all([
    pendingApprovals(operation, turn),
    pendingQuestions(operation, turn),
    sentenceAfter(operation.context, operation.call, turn, new AnswerFold(turn.turnId)),
  ]);
  const kinds = [...approvals, ...questions].map(({ kind }) => kind);
  const isAuthorization = kinds.length > 0 && kinds.every((kind) => kind === 'authorization');
  const answerable = [
    ...approvals.filter(({ kind }) => kind === 'tool').map((one) => ({ ...one, kind: 'tool_approval' })),
    ...questions.filter(({ kind }) => kind === 'input'),
  ];
  return {
    state: isAuthorization ? TaskState.TASK_STATE_AUTH_REQUIRED : status.state,
    timestamp,
    message: said([textPart(sentence), ...answerable.map(dataPart)]),
  };
}

/** The whole answer of a turn so far. */
export async function answerSoFar({ context, call }: A2aOperation, turn: Turn): Promise<string> {
  const fold = new AnswerFold(turn.turnId, { isStructured: turn.outputJson !== undefined });
  const started = { ...turn, from: turn.position };
  for await (const _ of readAnswer(context.clients, call, started, fold, { untilCaughtUp: true }));
  return fold.text;
}

/** The artifacts of a turn: the answer with its structured output, and of a final turn the files that it has written. */
export async function artifactsOf(operation: A2aOperation, turn: Turn, text: string): Promise<Artifact[]> {
  const parts = [...(text === '' ? [] : [textPart(text)]), ...outputParts(turn)];
  const files = isFinal(turn) ? await fileArtifacts(operation, turn) : [];
  return [...(parts.length > 0 ? [answerOf(parts)] : []), ...files];
}

export const outputParts = ({ outputJson }: Turn) =>
  outputJson === undefined ? [] : [dataPart(JSON.parse(outputJson))];

export interface TaskOptions {
  /** Undefined or null: no limit. */
  historyLength?: number | null | undefined;
}

/** A turn as a task. */
export async function taskOf(
  operation: A2aOperation,
  turn: Turn,
  { historyLength }: TaskOptions,
  artifacts: Artifact[],
): Promise<Task> {
  const [status, history] = await Promise.all([
    statusOf(operation, turn),
    historyLength === 0 ? [] : historyOf(operation, turn),
  ]);
  const console_url = `${operation.context.publicOrigin()}/sessions/${turn.sessionId}`;
  const metadata = { turn_id: turn.turnId, console_url, usage: serializeUsage(turn.usage) };
  return { id: taskIdOf(turn), contextId: turn.sessionId, status, artifacts, history, metadata };
}

/** The message that the task answers. Images and files are named, without their bytes. */
async function historyOf({ context, call }: A2aOperation, turn: Turn): Promise<Message[]> {
  const page = { limit: 1, cursor: '' };
  const place = { sessionId: turn.sessionId, afterSeq: turn.position - 1 };
  const { events } = await context.clients.sessions.listEvents(
    { ...place, page, types: ['user.message'] },
    call,
  );
  const [event] = events.map(({ json }) => JSON.parse(json) as UserMessage);
  if (event?.seq !== turn.position) return [];
  const parts = event.data.content.map(({ type, text, name }) => textPart(text ?? `[${name ?? type}]`));
  return [messageOf(turn, Role.ROLE_USER, parts)];
}

interface UserMessage {
  seq: number;
  data: { content: { type: string; text?: string; name?: string }[] };
}

/** A turn as a task with its artifacts. */
export async function wholeTask(operation: A2aOperation, turn: Turn, options: TaskOptions): Promise<Task> {
  const text = await answerSoFar(operation, turn);
  return taskOf(operation, turn, options, await artifactsOf(operation, turn, text));
}
