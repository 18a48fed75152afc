import type { DecideFromChannelResponse } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { DeliveryContext, OpenDelivery } from './delivery-context.ts';
import { accepted, type DeliveryOutcome, refused } from './outcome.ts';

const REFUSALS: Readonly<Record<string, string>> = {
  not_an_approver: 'You may not decide this approval.',
  no_access: 'You may not decide this approval, because you may not use this agent.',
  input_not_whole: 'The input is not shown whole here. Allow the call in the console.',
  not_found: 'This approval does not exist any more.',
  expired: 'This approval has expired.',
};

/** Decides an approval in the name of the linked user who clicked. The approval's own post shows the decision afterwards. */
export async function decideApproval(
  { work, signal }: OpenDelivery,
  { deployments }: DeliveryContext,
): Promise<DeliveryOutcome> {
  const { deliveryId, fence } = work;
  const answer = await deployments.decideFromChannel({ deliveryId, fence }, { signal });
  if (answer.outcome === 'refused') {
    if (answer.reason === 'not_linked') return refused('not_linked', { offerLink: true });
    return refused(answer.reason, { answer: REFUSALS[answer.reason] ?? 'This was not decided.' });
  }
  return accepted({ answer: textOf(answer) });
}

function textOf({ outcome, decision, decidedBy }: DecideFromChannelResponse): string {
  const done = decision === 'allow' ? 'allowed' : 'denied';
  if (outcome === 'decided') return `You have ${done} the call.`;
  return `${decidedBy || 'Another person'} has already ${done} the call.`;
}
