import { refuseField } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { DecideApprovalRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { requireAccountId } from '../domain/sender.ts';
import { causeOf, userOrDeployment } from './actor.ts';

/** The user who decides an approval, and the actor of the events of the decision. */
interface Decider {
  actor: Actor;
  /** usr_… */
  decidedBy: string;
  /** The account in a messaging product. Undefined without a channel. */
  via: string | undefined;
}

/** Returns the calling user, or the user whom a channel names. Refuses what a channel may not decide. */
export function deciderOf(request: DecideApprovalRequest, call: Call): Decider {
  const { actor: channel, decidedBy = '', via = '' } = request;
  const actor = userOrDeployment(channel, call);
  if (!channel) {
    if (decidedBy !== '') throw refuseField('/decided_by', 'is only allowed with the actor of a channel');
    if (via !== '') throw refuseField('/via', 'is only allowed with the actor of a channel');
    return { actor, decidedBy: callerOf(call).userId, via: undefined };
  }
  if (actor.type !== 'channel') throw refuseField('/actor/type', 'must be channel');
  causeOf(channel);
  if (!isId('usr', decidedBy)) throw refuseField('/decided_by', 'must be a usr_… id');
  requireAccountId(via, '/via');
  if (request.editedInputJson !== '')
    throw refuseField('/edited_input', 'is not allowed with the actor of a channel');
  return { actor, decidedBy, via };
}
