import type { ConversationPlace } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';

/** A thread is a channel of its own. */
export function channelOf({ place, thread }: ConversationPlace): string {
  return thread === '' ? place : thread;
}

/**
 * Whether the conversation is a thread that may have to be created from its first message. Discord gives it the id of that
 * message.
 */
export function canHaveNoThread({ place, thread }: ConversationPlace): boolean {
  return thread !== '' && thread !== place;
}

/** The permission to write in the place. */
export function writePermission({ thread }: ConversationPlace): string {
  return thread === '' ? 'Send Messages' : 'Send Messages in Threads';
}
