import { Refusal } from '../../../lib/errors.ts';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { refuseSender } from './access.ts';
import { actorOf, type DeliveryContext, type OpenDelivery, ownerCall } from './delivery-context.ts';
import { accepted, type DeliveryOutcome, refused } from './outcome.ts';

const HELP = [
  '`/new` starts a new session with the next message.',
  '`/stop` stops the agent and removes waiting messages.',
  '`/status` shows the state of the session.',
  '`/link` connects your account with a user of the service.',
  '`/unlink` ends that connection.',
  'Where the product has no commands, write `!new`, `!stop` and so on as the whole message.',
].join('\n');

/** Turns that one command removes, and messages that are searched for the sender of a turn. */
const MAX_TURNS = 100;

type Command = (delivery: OpenDelivery, context: DeliveryContext) => Promise<DeliveryOutcome>;

/** The commands that need no access to the agent. */
const OPEN_COMMANDS: Readonly<Record<string, Command>> = {
  help: async () => accepted({ answer: HELP }),
  link: async ({ work }) =>
    work.userId === ''
      ? accepted({ offerLink: true })
      : accepted({ answer: 'Your account is linked already.' }),
  unlink: async ({ work }) =>
    work.userId === ''
      ? accepted({ answer: 'Your account is not linked.' })
      : accepted({ removeLink: true, answer: 'Your account is not linked any more.' }),
};

const COMMANDS: Readonly<Record<string, Command>> = {
  new: async ({ work }) =>
    accepted({ detachSession: work.sessionId !== '', answer: 'The next message starts a new session.' }),
  stop,
  status,
};

export async function runCommand(delivery: OpenDelivery, context: DeliveryContext): Promise<DeliveryOutcome> {
  const { command } = delivery.event;
  const open = Object.hasOwn(OPEN_COMMANDS, command) ? OPEN_COMMANDS[command] : undefined;
  if (open) return open(delivery, context);
  const refusal = refuseSender(delivery.work);
  if (refusal) return refusal;
  const known = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  return known ? known(delivery, context) : refused('unknown_command', { answer: HELP });
}

async function status(delivery: OpenDelivery, { sessions }: DeliveryContext): Promise<DeliveryOutcome> {
  const { sessionId } = delivery.work;
  const { agentName, publicUrl } = delivery.channel;
  if (sessionId === '') return accepted({ answer: `${agentName}: the next message starts a session.` });
  try {
    const { session } = await sessions.getSession({ sessionId }, ownerCall(delivery));
    const queued = session?.queuedTurns ? `, ${session.queuedTurns} waiting` : '';
    const state = (session?.state || 'idle').replaceAll('_', ' ');
    const link = `[Open the session in the console](${publicUrl}/sessions/${sessionId})`;
    return accepted({ answer: `${agentName}: ${state}${queued}. ${link}` });
  } catch (error) {
    if (!isGone(error)) throw error;
    return accepted({ answer: `${agentName}: the session was deleted. The next message starts a new one.` });
  }
}

/** Ends the current turn and removes the turns behind it. For approvers, and the sender of the current turn's message. */
async function stop(delivery: OpenDelivery, { sessions }: DeliveryContext): Promise<DeliveryOutcome> {
  const nothing = accepted({ answer: 'Nothing is running.' });
  const { sessionId, isApprover } = delivery.work;
  if (sessionId === '') return nothing;
  const call = ownerCall(delivery);
  try {
    const page = { limit: MAX_TURNS, cursor: '' };
    const { turns } = await sessions.listTurns({ sessionId, page, unfinished: true }, call);
    const [first] = turns;
    if (!first) return nothing;
    if (!isApprover && !(await isInitiator(delivery, first, sessions)))
      return refused('not_an_approver', {
        answer: 'You may not stop this turn: another person has started it.',
      });
    const actor = actorOf(delivery.work);
    for (const { turnId } of turns.filter(({ status }) => status === 'queued').toReversed())
      await sessions.cancelTurn({ sessionId, turnId, actor }, call).catch(ignoreStarted);
    if (first.status !== 'queued')
      await sessions.interruptSession({ sessionId, holdQueue: false, turnId: first.turnId, actor }, call);
    return accepted({ answer: undefined });
  } catch (error) {
    if (!isGone(error)) throw error;
    return nothing;
  }
}

async function isInitiator(
  delivery: OpenDelivery,
  { turnId }: Turn,
  sessions: DeliveryContext['sessions'],
): Promise<boolean> {
  const { sessionId } = delivery.work;
  const page = { limit: MAX_TURNS, cursor: '' };
  const request = { sessionId, page, afterSeq: 0, types: ['user.message'], newestFirst: true };
  const { events } = await sessions.listEvents(request, ownerCall(delivery));
  return events.some(({ json }) => {
    const event: { turn_id?: string; data?: { sender?: { external_id?: string } } } = JSON.parse(json);
    return event.turn_id === turnId && event.data?.sender?.external_id === delivery.event.senderId;
  });
}

/** The turn has started or ended meanwhile. */
function ignoreStarted(error: unknown): void {
  if (!(error instanceof Refusal) || !['TURN_NOT_QUEUED', 'TURN_NOT_FOUND'].includes(error.code)) throw error;
}

function isGone(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'SESSION_NOT_FOUND';
}
