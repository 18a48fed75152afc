import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { answerProblems, type QuestionForm } from '../../../lib/question-form.ts';
import { type Change, type ClosedClientCall, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { resume } from './resume.ts';
import type { OpenCall, SessionState, TurnState } from './state.ts';
import { traceFields } from './turn-fields.ts';

/** The result that a client or a person gives for a tool call. */
export interface CallAnswer {
  /** The `agent.tool_use` event of the call. */
  eventId: string;
  /** JSON text on one line. */
  outputJson: string;
  isError: boolean;
  /** The digest of the request. Null for a result without image and file parts. */
  requestSha256: string | null;
  /** The input of the call as JSON text, if a user edited it. */
  inputJson: string;
  /** When the turn began to wait. */
  askedAt: Date;
  actor: Actor;
  /** usr_…: the user who answers. */
  answeredBy: string;
  now: Date;
}

const EXPIRED = 'This call was not answered in time.';

/** Records the answer. The turn is queued again when it waits for no other one. Refused with TOOL_CALL_CLOSED. */
export function answerCall(state: SessionState, answer: CallAnswer): Change {
  const { eventId, outputJson, isError, requestSha256, actor, answeredBy, askedAt, now } = answer;
  const found = awaitedCall(state, eventId);
  if (!found) throw toolCallClosed();
  const durationMs = Math.max(0, now.getTime() - askedAt.getTime());
  const result = { outputJson, isError, durationMs, inputJson: answer.inputJson };
  return closeCall(state, found, resultDraft(found, result, actor), {
    eventId,
    status: 'answered',
    answer: { outputJson, isError, answeredBy, requestSha256 },
  });
}

/** Closes a call that was not answered in time. The model gets an error. */
export function expireCall(state: SessionState, eventId: string): Change {
  const closed: ClosedClientCall = { eventId, status: 'expired' };
  const found = awaitedCall(state, eventId);
  // The call of a turn that no longer waits must not stay open.
  if (!found) return { ...unchanged(state), closedClientCalls: [closed] };
  const result = { outputJson: JSON.stringify(EXPIRED), isError: true, durationMs: 0, inputJson: '' };
  return closeCall(state, found, resultDraft(found, result, SYSTEM_ACTOR), closed);
}

/** Limits the details of a refusal, which travel in a gRPC trailer. */
const MAX_DETAILS = 20;

/** Refuses with INVALID_REQUEST an answer to ask_user that does not match the form. `inputJson` is the input of the call. */
export function requireFormAnswer(inputJson: string, answer: unknown): void {
  const { schema } = JSON.parse(inputJson) as { schema: QuestionForm };
  requireFormContent(schema, answer, '/output');
}

/** Refuses with INVALID_REQUEST content that does not match the form. `at` is the pointer of the content. */
export function requireFormContent(form: QuestionForm, content: unknown, at: string): void {
  const details = answerProblems(form, content).map(({ pointer, message }) => ({
    pointer: `${at}${pointer}`,
    message,
  }));
  const [first] = details;
  if (!first) return;
  throw refuse('INVALID_REQUEST', `${first.pointer} ${first.message}`, {
    details: details.slice(0, MAX_DETAILS),
  });
}

export function toolCallClosed() {
  return refuse('TOOL_CALL_CLOSED', 'The tool call has expired, or its turn was interrupted or has ended.');
}

interface AwaitedCall {
  turn: TurnState;
  call: OpenCall;
}

function awaitedCall({ current: turn }: SessionState, eventId: string): AwaitedCall | undefined {
  if (turn?.status !== 'blocked') return undefined;
  const call = turn.calls.find(({ client }) => client?.isAwaited && client.eventId === eventId);
  return call && { turn, call };
}

/** `inputJson` is only used for a call with an edited input. */
function resultDraft(
  { turn, call: { toolUseId, client } }: AwaitedCall,
  result: { outputJson: string; isError: boolean; durationMs: number; inputJson: string },
  actor: Actor,
): EventDraft {
  const { outputJson, isError, durationMs, inputJson } = result;
  const edited = client?.isEdited && inputJson !== '' ? `,"edited_input":${inputJson}` : '';
  const dataJson =
    `{"tool_use_id":${JSON.stringify(toolUseId)},"output":${outputJson},"is_error":${isError},` +
    `"duration_ms":${durationMs}${edited}}`;
  return { type: 'agent.tool_result', dataJson, actor, ...traceFields(turn) };
}

function closeCall(
  state: SessionState,
  { turn, call }: AwaitedCall,
  result: EventDraft,
  closed: ClosedClientCall,
): Change {
  const calls = turn.calls.filter((one) => one !== call);
  // A result is progress: an attempt of the turn continues behind it.
  const progressed = { ...turn, calls, failures: 0, lastProgressAttempt: turn.attempt };
  return { ...resume(state, progressed, [result]), closedClientCalls: [closed] };
}
