import { createIds } from '../../../lib/ids.ts';
import type {
  CreateSessionRequest,
  MessageSender,
  SendMessageRequest,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AGENT, content, OWNER, type SessionsSystem } from './system.ts';

/* Sessions and messages of channels. */

export const CHANNEL = 'dep_01M7XYC91CC5TE06JQWDWRTJVT';
export const LINKED_USER = 'usr_0000000000000000000000000K';
export const SENDER: MessageSender = {
  provider: 'slack',
  externalId: 'U123',
  name: 'Ada Lovelace',
  userId: LINKED_USER,
  group: true,
};

export const newDeliveryId: () => string = (() => {
  const ids = createIds({ now: () => new Date() } as Parameters<typeof createIds>[0]);
  return () => ids('dlv');
})();

export const channelActor = (deliveryId: string) => ({
  ...{ type: 'channel', deploymentId: CHANNEL, runId: '', deliveryId },
});

/** The request that creates the session of a conversation, without a message. */
export const deliveryRequest = (
  deliveryId: string,
  more: Partial<CreateSessionRequest> = {},
): CreateSessionRequest => ({
  ...{ invocationId: '', deploymentId: CHANNEL, agentId: AGENT, agentVersion: 3, ownerId: OWNER.userId },
  ...{ text: '', bodyBytes: 0, sourceAddress: '', actor: channelActor(deliveryId) },
  ...more,
});

/** Sends the message of a delivery to a session, for its owner. */
export function sendForDelivery(
  { channels }: Pick<SessionsSystem, 'channels'>,
  sessionId: string,
  deliveryId: string,
  more: Partial<SendMessageRequest> = {},
  caller = OWNER,
) {
  const message = { sessionId, contentJson: content('Hello.'), busyPolicy: 'enqueue', idempotencyKey: '' };
  const actor = channelActor(deliveryId);
  return channels.sendMessage({ ...message, actor, sender: SENDER, ...more }, { caller });
}
