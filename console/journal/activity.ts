import type { ChatItem, ToolCall } from './chat.ts';
import type { DurableEvent } from './event.ts';
import type { JournalView } from './view.ts';

/** Returns a sentence about the work or wait of a session; undefined when the session is idle or terminated. */
export function activityOf(
  view: Pick<JournalView, 'events' | 'drafts'>,
  chat: readonly ChatItem[],
): string | undefined {
  const status = view.events.findLast(({ type }) => type.startsWith('session.status_'));
  switch (status?.type) {
    case 'session.status_pending':
      // A turn queued behind a turn that waits for a user waits for the same user.
      return pendingRequests(chat) ?? 'Waiting for a runner.';
    case 'session.status_rescheduled':
      return retryText(view.events) ?? 'The turn continues automatically.';
    case 'session.status_running':
      return isCompacting(view.events)
        ? 'Shortening the conversation for the model.'
        : runningActivity(view, chat);
    case 'session.status_idle':
      return status.data.stop_reason.type === 'requires_action'
        ? (pendingRequests(chat) ?? 'Waiting for you.')
        : undefined;
    default:
      return undefined;
  }
}

/** Whether the running turn only compacts. */
function isCompacting(events: readonly DurableEvent[]): boolean {
  const turnId = events.findLast(({ type }) => type === 'turn.started')?.turn_id;
  const queued = events.findLast((event) => event.type === 'turn.queued' && event.turn_id === turnId);
  return queued?.type === 'turn.queued' && queued.data.kind === 'compaction';
}

function runningActivity({ drafts }: Pick<JournalView, 'drafts'>, chat: readonly ChatItem[]): string {
  if (drafts.length > 0) return 'The agent is writing.';
  const running = chat.filter((item): item is ToolCall => item.kind === 'call' && item.state === 'running');
  if (running.length === 0) return 'Waiting for the model.';
  return `Running ${running.map(({ name }) => name).join(', ')}.`;
}

function pendingRequests(chat: readonly ChatItem[]): string | undefined {
  const approvals = namesOf(chat, ({ state }) => state === 'awaiting_approval');
  const waitsForKey = chat.some(
    (item) => item.kind === 'authorization' && item.approval.decision === undefined,
  );
  const questions = chat.filter((item) => isAwaited(item) && item.answerKind === 'input');
  const results = namesOf(chat, (call) => isAwaited(call) && call.answerKind === 'tool_result');
  const sentences = [
    ...(waitsForKey ? ['Waiting for the model key of the agent.'] : []),
    ...(approvals ? [`Waiting for your decision on ${approvals}.`] : []),
    ...(questions.length > 0 ? ['Waiting for your answer.'] : []),
    ...(results ? [`Waiting for the client to run ${results}.`] : []),
  ];
  return sentences.length > 0 ? sentences.join(' ') : undefined;
}

const isAwaited = (item: ChatItem): item is ToolCall =>
  item.kind === 'call' && item.state === 'awaiting_answer';

function namesOf(chat: readonly ChatItem[], isIncluded: (call: ToolCall) => boolean): string {
  return chat.flatMap((item) => (item.kind === 'call' && isIncluded(item) ? item.name : [])).join(', ');
}

function retryText(events: readonly DurableEvent[]): string | undefined {
  const error = events.findLast(({ type }) => type === 'session.error');
  if (error?.type !== 'session.error' || !error.data.next_attempt_at) return undefined;
  return `Retrying at ${error.data.next_attempt_at.slice(11, 19)} UTC after ${error.data.error.code}.`;
}
