import type { Call, ChatItem } from './chat.ts';
import type { LastingEvent } from './event.ts';
import type { JournalView } from './view.ts';

/** What a session is waiting for, in a sentence; undefined when it waits for nobody but the next message. */
export function waitingFor(
  view: Pick<JournalView, 'events' | 'drafts'>,
  chat: readonly ChatItem[],
): string | undefined {
  const state = view.events.findLast(({ type }) => type.startsWith('session.status_'));
  switch (state?.type) {
    case 'session.status_pending':
      // What is queued behind a turn that waits for a decision waits for that, too.
      return asking(chat) ?? 'Waiting for a runner.';
    case 'session.status_rescheduled':
      return nextAttempt(view.events) ?? 'It goes on by itself.';
    case 'session.status_running':
      return doing(view, chat);
    case 'session.status_idle':
      return state.data.stop_reason.type === 'requires_action'
        ? (asking(chat) ?? 'Waiting for you.')
        : undefined;
    default:
      return undefined;
  }
}

function doing({ drafts }: Pick<JournalView, 'drafts'>, chat: readonly ChatItem[]): string {
  if (drafts.length > 0) return 'The agent is writing.';
  const running = chat.filter((item): item is Call => item.kind === 'call' && item.state === 'running');
  if (running.length === 0) return 'Waiting for the model.';
  return `Running ${running.map(({ name }) => name).join(', ')}.`;
}

function asking(chat: readonly ChatItem[]): string | undefined {
  const asked = chat.filter((item): item is Call => item.kind === 'call' && item.state === 'asked');
  if (asked.length === 0) return undefined;
  return `Waiting for your decision on ${asked.map(({ name }) => name).join(', ')}.`;
}

function nextAttempt(events: readonly LastingEvent[]): string | undefined {
  const failed = events.findLast(({ type }) => type === 'session.error');
  if (failed?.type !== 'session.error' || !failed.data.next_attempt_at) return undefined;
  return `Trying again at ${failed.data.next_attempt_at.slice(11, 19)} UTC, after ${failed.data.error.code}.`;
}
