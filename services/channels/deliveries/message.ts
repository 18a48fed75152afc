import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import { messageContent } from './content.ts';
import { actorOf, type DeliveryContext, type OpenDelivery, ownerCall } from './delivery-context.ts';
import { type ReceivedFile, receiveFiles } from './inbox-files.ts';
import { accepted, type DeliveryOutcome, notice, refused, retried } from './outcome.ts';

/** Why a session takes no message, by the code of the refusal. */
const OVER: Partial<Record<string, string>> = {
  SESSION_ARCHIVED: 'was archived',
  SESSION_TERMINATED: 'was terminated',
  SESSION_NOT_FOUND: 'was deleted',
};

/** Sends a message to the session of its conversation. However often it is repeated, there is one turn. */
export async function deliverMessage(
  delivery: OpenDelivery,
  context: DeliveryContext,
): Promise<DeliveryOutcome> {
  const { work, event } = delivery;
  const { ownerId } = work;
  const hasFiles = event.files.length > 0 && (delivery.channel.config.filesIn ?? true);
  if (event.text.trim() === '' && !hasFiles) return { ...refused('empty'), result: 'ignored' };
  try {
    const known = work.sessionId;
    if (known !== '') {
      try {
        const turnId = await send(delivery, known, context);
        return accepted({ sessionId: known, turnId, ownerId });
      } catch (error) {
        const reason = error instanceof Refusal ? OVER[error.code] : undefined;
        if (!reason) throw error;
        const text = `The earlier session ${reason}, so this message starts a new one.`;
        return { ...(await startSession(delivery, context)), notices: [notice(text)] };
      }
    }
    return await startSession(delivery, context);
  } catch (error) {
    const outcome = error instanceof Refusal ? outcomeOf(error) : undefined;
    if (!outcome) throw error;
    return outcome;
  }
}

async function startSession(delivery: OpenDelivery, context: DeliveryContext): Promise<DeliveryOutcome> {
  const { work, channel } = delivery;
  const { ownerId, agentVersion, deploymentId } = work;
  const { sessionId } = await context.sessions.createSession(
    {
      ...{ invocationId: '', deploymentId, agentId: channel.agentId, agentVersion, ownerId, text: '' },
      ...{ bodyBytes: 0, sourceAddress: '', actor: actorOf(work) },
    },
    ownerCall(delivery),
  );
  const turnId = await send(delivery, sessionId, context);
  return accepted({ sessionId, turnId, ownerId });
}

/** Returns the id of the turn. */
async function send(delivery: OpenDelivery, sessionId: string, context: DeliveryContext): Promise<string> {
  const { event, channel } = delivery;
  const hasFiles = channel.config.filesIn ?? true;
  const files = hasFiles ? await receiveFiles(delivery, sessionId, context) : event.files.map(withoutFiles);
  const named = new Set<number>();
  for (;;) {
    const { positions, ...content } = messageContent(event.text, files, named);
    try {
      return await sendContent(delivery, sessionId, content, context);
    } catch (error) {
      const unsupported = unsupportedParts(error, content.contentJson, positions);
      if (unsupported.length === 0) throw error;
      for (const index of unsupported) named.add(index);
    }
  }
}

function withoutFiles({ name }: { name: string }): ReceivedFile {
  return { name, problem: 'This channel takes no files.' };
}

async function sendContent(
  delivery: OpenDelivery,
  sessionId: string,
  content: Pick<ReturnType<typeof messageContent>, 'contentJson' | 'attachments'>,
  { sessions }: DeliveryContext,
): Promise<string> {
  const { work, event, channel, signal } = delivery;
  const name = event.senderName || (await channel.client.senderName?.(event.senderId, signal));
  const sender = {
    provider: channel.provider,
    externalId: event.senderId,
    name: name || event.senderId,
    userId: work.userId || undefined,
    group: event.place?.isGroup ?? false,
  };
  const busyPolicy = channel.config.busy === 'interrupt' ? 'interrupt' : 'enqueue';
  const request = { sessionId, ...content, busyPolicy, idempotencyKey: '', actor: actorOf(work), sender };
  return (await sessions.sendMessage(request, ownerCall(delivery))).turnId;
}

/** Returns the positions of the files that the model does not take; all files if the refusal names none. */
function unsupportedParts(error: unknown, contentJson: string, positions: readonly number[]): number[] {
  if (!(error instanceof Refusal) || positions.length === 0) return [];
  const named = error.details.flatMap(({ pointer }) => /^\/content\/(\d+)/.exec(pointer)?.[1] ?? []);
  if (error.code !== 'CONTENT_NOT_SUPPORTED' && named.length === 0) return [];
  const hasText = contentJson.startsWith('[{"type":"text"') ? 1 : 0;
  const found = named.flatMap((index) => positions[Number(index) - hasText] ?? []);
  return found.length > 0 ? found : [...positions];
}

const HELD =
  'This message waits, because the queue of the session was stopped. It continues when the queue is released in the console.';
const QUOTA = 'The agent cannot start now, because a quota is used up. Send the message again later.';

/** Returns the end of a delivery whose message was refused. Undefined: it may be accepted later. */
function outcomeOf({ code }: Refusal): DeliveryOutcome | undefined {
  if (code === 'SESSION_BUSY')
    return retried('queue_held', { isWaiting: true, notices: [notice(HELD, 'held')] });
  if (code === 'QUOTA_EXCEEDED') return refused('quota_exceeded', { notices: [notice(QUOTA, 'quota')] });
  const { retryable, category } = ERRORS[code];
  if (retryable || category === 'internal' || category === 'dependency') return undefined;
  const reason = code.toLowerCase();
  return refused(reason, { notices: [notice(`The message could not be delivered (\`${code}\`).`, reason)] });
}
