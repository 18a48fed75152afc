import { type Clock, wait } from '../../../../lib/clock.ts';
import type { InboundEvent } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { ProductError } from '../product-error.ts';
import { privateAnswer } from './content.ts';
import { UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK } from './errors.ts';
import type { DiscordPosts } from './posts.ts';
import type { RestApi } from './rest-api.ts';

const DEFERRED_MESSAGE = 5;
const DEFERRED_UPDATE = 6;
const COMMAND = 2;
const EPHEMERAL = 1 << 6;
/** The delivery can be handled before Discord has processed the acknowledgement. */
const PAUSES_MS = [0, 500, 1_500, 3_000];

/** The acknowledgement of an interaction that is answered later. Only its sender sees that it waits. */
export function deferredAnswer(type: unknown): object {
  return type === COMMAND
    ? { type: DEFERRED_MESSAGE, data: { flags: EPHEMERAL } }
    : { type: DEFERRED_UPDATE };
}

interface AnswerOptions {
  api: RestApi;
  posts: DiscordPosts;
  clock: Clock;
  applicationId: string;
}

/**
 * Ends the deferred state of a command, and shows a text to the person who has sent it or clicked. The token of the
 * interaction is the permission. It is valid for 15 minutes; later the text becomes a direct message.
 */
export async function answerInteraction(
  { kind, answerToken: token, senderId }: Pick<InboundEvent, 'kind' | 'answerToken' | 'senderId'>,
  text: string,
  { api, posts, clock, applicationId }: AnswerOptions,
  signal: AbortSignal,
): Promise<void> {
  const isClick = kind === 'action';
  if (token === '' || (isClick && text === '')) return;
  const webhook = `/webhooks/${applicationId}/${token}` as const;
  const body = privateAnswer(text);
  let isTooEarly = false;
  const accept = ({ code }: { code: number }) => {
    isTooEarly = code === UNKNOWN_WEBHOOK;
    return text === '' && code === UNKNOWN_MESSAGE ? {} : undefined;
  };
  for (const [index, pauseMs] of PAUSES_MS.entries()) {
    await wait(clock, pauseMs, signal);
    signal.throwIfAborted();
    try {
      const request = { auth: false, accept };
      // The original message of a click is the one with the button.
      if (isClick) await api.request('post', webhook, { ...request, body }, signal);
      else if (text === '') await api.request('delete', `${webhook}/messages/@original`, request, signal);
      else await api.request('patch', `${webhook}/messages/@original`, { ...request, body }, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      const isLast = index === PAUSES_MS.length - 1;
      if (isTooEarly && !isLast) continue;
      const isExpired =
        error instanceof ProductError && ['refused', 'missing', 'unauthorized'].includes(error.kind);
      if (!isExpired) throw error;
      if (text !== '') await posts.sendDirectly(senderId, { ...body, flags: 0 }, signal);
      return;
    }
  }
}
