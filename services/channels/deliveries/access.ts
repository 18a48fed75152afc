import type { DeliveryWork } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { type DeliveryOutcome, privateNotice, refused } from './outcome.ts';

const TEXTS: Readonly<Record<string, string>> = {
  no_access: 'You may not use this agent. Ask its owner for access.',
  not_listed: 'This agent does not talk to you here. Ask its owner to add you.',
  external_user: 'This agent does not talk to users of other organizations.',
  user_disabled: 'Your user is disabled.',
  owner_disabled: 'This channel does not work, because the user who owns its sessions is disabled.',
  agent_deleted: 'The agent of this channel does not exist any more.',
  agent_disabled: 'The agent of this channel is disabled.',
  environment_disabled: 'The environment of the agent is disabled.',
};

/** Returns why the sender gets no answer of the agent. Undefined: the sender may talk to it. */
export function refuseSender({ accessRefusal, ownerId }: DeliveryWork): DeliveryOutcome | undefined {
  if (accessRefusal === 'not_linked') return refused('not_linked', { offerLink: true });
  if (accessRefusal !== '') {
    const text = TEXTS[accessRefusal] ?? 'This agent does not talk to you.';
    return refused(accessRefusal, { notices: [privateNotice(text, `refused ${accessRefusal}`)] });
  }
  return ownerId === '' ? refused('owner_not_linked', { offerLink: true }) : undefined;
}
