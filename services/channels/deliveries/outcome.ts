import type { FinishDeliveryRequest, NewNotice } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';

/** The end of a delivery. `answer` is the reply to the sender; undefined for none. */
export interface DeliveryOutcome extends Omit<FinishDeliveryRequest, 'deliveryId' | 'fence'> {
  answer: string | undefined;
}

const NOTHING: DeliveryOutcome = {
  result: 'accepted',
  reason: '',
  sessionId: '',
  turnId: '',
  ownerId: '',
  detachSession: false,
  notices: [],
  offerLink: false,
  removeLink: false,
  isWaiting: false,
  answer: undefined,
};

export function accepted(members: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
  return { ...NOTHING, ...members };
}

export function refused(reason: string, members: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
  return { ...NOTHING, result: 'refused', reason, ...members };
}

/** The delivery is claimed again later. */
export function retried(reason: string, members: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
  return { ...NOTHING, result: 'retry', reason, ...members };
}

/** For all people in the conversation. Two notices with the same key within an hour are one. */
export function notice(text: string, key = ''): NewNotice {
  return { key, text, isPrivate: false };
}

export function privateNotice(text: string, key = ''): NewNotice {
  return { key, text, isPrivate: true };
}
