import type { OperatorTransport } from '../../../../lib/outbound/operator-transport.ts';
import type { InboundEvent } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { ProductError } from '../product-error.ts';
import { connectionError, statusError } from './errors.ts';
import { isSlackUrl } from './hosts.ts';
import { toMrkdwn } from './mrkdwn.ts';

const ANSWER_MS = 30_000;

interface AnswerOptions {
  apiUrl: string;
  transport: Pick<OperatorTransport, 'fetch'>;
}

/** Shows a text to the person who has clicked or sent a command. It needs no token: the URL is the permission. */
export async function answerAt(
  { answerToken: url, place }: Pick<InboundEvent, 'answerToken' | 'place'>,
  text: string,
  { apiUrl, transport }: AnswerOptions,
  signal: AbortSignal,
): Promise<void> {
  // The acknowledgement has ended the interaction already.
  if (text === '' || url === '') return;
  if (!isSlackUrl(url, apiUrl)) throw new ProductError('refused', 'The response URL does not lead to Slack.');
  const body = {
    response_type: 'ephemeral',
    replace_original: false,
    text: toMrkdwn(text),
    ...(place?.thread ? { thread_ts: place.thread } : {}),
  };
  const response = await transport
    .fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw connectionError(error);
    });
  await response.body?.cancel();
  if (response.ok) return;
  if (response.status === 429 || response.status >= 500) throw statusError(response.status);
  throw new ProductError('refused', 'The response URL is not valid any more.');
}
