import type { ChannelConfig } from './channel.ts';

/** The user of a sender. */
export type SenderUser =
  | { kind: 'none' }
  | { kind: 'disabled' }
  /** The level on the agent: none, see, use or manage. */
  | { kind: 'enabled'; userId: string; level: string };

/** The sender of an event, as the product names it. */
export interface Sender {
  externalId: string;
  /** The ids of the place. */
  places: readonly string[];
  /** Of another organization. */
  isExternal: boolean;
}

export type AccessRefusal = 'not_linked' | 'no_access' | 'not_listed' | 'external_user' | 'user_disabled';

/** Returns why the sender may not talk to the agent; undefined when they may. */
export function refuseSender(
  { access, owner }: Pick<ChannelConfig, 'access' | 'owner'>,
  { externalId, places, isExternal }: Sender,
  user: SenderUser,
): AccessRefusal | undefined {
  if (isExternal && !access.allowExternal) return 'external_user';
  if (access.mode === 'linked') return user.kind === 'none' ? 'not_linked' : refuseUser(user);
  const isListed =
    access.people.includes(externalId) || places.some((place) => access.places.includes(place));
  if (access.mode === 'list' && !isListed) return 'not_listed';
  // The sessions of the sender's own user need that user's access.
  return owner === 'sender' ? refuseUser(user) : undefined;
}

function refuseUser(user: SenderUser): AccessRefusal | undefined {
  if (user.kind === 'disabled') return 'user_disabled';
  return user.kind === 'enabled' && !canUse(user.level) ? 'no_access' : undefined;
}

export function canUse(level: string): boolean {
  return level === 'use' || level === 'manage';
}

/** The facts about a decision, at the time of the click. */
interface Decider {
  userId: string;
  level: string;
  /** usr_…: the owner of the session. */
  ownerId: string;
  /** The user has started the turn that waits. */
  isInitiator: boolean;
}

/** Whether the approvers of the channel include the user. Every approver needs the level `use`. */
export function mayApprove({ approvers }: Pick<ChannelConfig, 'approvers'>, decider: Decider): boolean {
  if (!canUse(decider.level)) return false;
  switch (approvers.policy) {
    case 'owner':
      return decider.userId === decider.ownerId;
    case 'managers':
      return decider.level === 'manage';
    case 'initiator':
      return decider.isInitiator;
    case 'users':
      return approvers.userIds.includes(decider.userId);
  }
}
