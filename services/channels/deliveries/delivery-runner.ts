import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { DeliveryWork } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { ProductError } from '../products/product-error.ts';
import type { ChannelReference } from '../work/channel-clients.ts';
import type { WorkerContext } from '../work/worker-context.ts';
import { refuseSender } from './access.ts';
import { decideApproval } from './action.ts';
import { runCommand } from './command.ts';
import type { DeliveryContext, OpenDelivery } from './delivery-context.ts';
import { deliverMessage } from './message.ts';
import { type DeliveryOutcome, notice, privateNotice, refused, retried } from './outcome.ts';

type RunnerContext = DeliveryContext & Pick<WorkerContext, 'log'>;

/** Handles one delivery and reports its end. Never rejects. `signal` aborts before the lease ends. */
export async function runDelivery(
  work: DeliveryWork,
  reference: ChannelReference,
  signal: AbortSignal,
  context: RunnerContext,
): Promise<void> {
  const { log } = context;
  const { event } = work;
  if (!event) return reference.release();
  const delivery: OpenDelivery = { work, event, channel: reference.channel, signal };
  try {
    const outcome = await outcomeOf(delivery, context);
    await finish(delivery, outcome, context);
  } catch (error) {
    // The delivery is claimed again when its lease has ended.
    log.info({ deliveryId: work.deliveryId, ...errorFields(error) }, 'a delivery was not finished');
  } finally {
    reference.release();
  }
}

async function outcomeOf(delivery: OpenDelivery, context: RunnerContext): Promise<DeliveryOutcome> {
  try {
    const senderEmail = await unknownEmail(delivery);
    if (senderEmail !== '') return retried('sender_email', { senderEmail });
    switch (delivery.event.kind) {
      case 'message':
        return refuseSender(delivery.work) ?? (await deliverMessage(delivery, context));
      case 'command':
        return await runCommand(delivery, context);
      case 'action':
        return await decideApproval(delivery, context);
      default:
        return { ...refused('unknown_event'), result: 'ignored' };
    }
  } catch (error) {
    if (delivery.signal.aborted || (error instanceof Refusal && error.code === 'LEASE_LOST')) throw error;
    context.log.info(
      { deliveryId: delivery.work.deliveryId, ...errorFields(error) },
      'a delivery failed; it is tried again',
    );
    return retried(reasonOf(error));
  }
}

/**
 * Returns the e-mail of a sender who may be linked by it. The service that owns the links decides with it when the delivery
 * is claimed again. Empty: it is known already, or the product tells none.
 */
async function unknownEmail({ work, event, channel, signal }: OpenDelivery): Promise<string> {
  if (!channel.config.trustEmail || work.userId !== '' || event.senderEmail !== '') return '';
  return (await channel.client.senderEmail?.(event.senderId, signal)) ?? '';
}

/** The reply is shown with the answer to a command or click where the product has one, and posted otherwise. */
async function finish(
  { work, event, channel, signal }: OpenDelivery,
  { answer, ...outcome }: DeliveryOutcome,
  { deployments, log }: RunnerContext,
): Promise<void> {
  const { deliveryId, fence } = work;
  const hasAnswer = event.answerToken !== '';
  const reply = answer === undefined || hasAnswer ? [] : [replyNotice(event.kind, outcome.result, answer)];
  const request = { ...outcome, deliveryId, fence, notices: [...outcome.notices, ...reply] };
  const { linkNotice } = await deployments.finishDelivery(request, { signal });
  if (!hasAnswer || outcome.result === 'retry') return;
  const text = linkNotice || answer || '';
  await channel.client.answer(event, text, signal).catch((error: unknown) => {
    log.info({ deliveryId, ...errorFields(error) }, 'a command or click was not answered');
  });
}

function replyNotice(kind: string, result: string, text: string) {
  return kind === 'action' || result === 'refused' ? privateNotice(text) : notice(text);
}

function reasonOf(error: unknown): string {
  if (error instanceof ProductError) return `product_${error.kind}`;
  return error instanceof Refusal ? error.code.toLowerCase() : 'internal';
}

/** The message of an unexpected error can contain a body or token of a product. */
function errorFields(error: unknown): Record<string, unknown> {
  if (error instanceof Refusal)
    return ERRORS[error.code].category === 'internal' ? { code: error.code } : { err: error };
  if (error instanceof ProductError) return { err: error };
  return { error: error instanceof Error ? error.name : typeof error };
}
