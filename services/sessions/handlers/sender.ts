import { refuseField } from '../../../lib/errors.ts';
import type { DeploymentActor, MessageSender } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { senderOf } from '../domain/sender.ts';

/** Returns the JSON text of a sender. Refuses one with INVALID_REQUEST unless a channel acts. */
export function senderJsonOf(
  sender: MessageSender | undefined,
  actor: DeploymentActor | undefined,
): string | undefined {
  if (!sender) return undefined;
  if (actor?.type !== 'channel') throw refuseField('/sender', 'is only allowed with the actor of a channel');
  return JSON.stringify(senderOf(sender));
}
