import type { ConversationPlace } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { idIn, type JsonObject, objectIn } from '../json-members.ts';

/** ANNOUNCEMENT_THREAD, PUBLIC_THREAD and PRIVATE_THREAD. */
const THREADS: readonly unknown[] = [10, 11, 12];

interface MessageAddress {
  channel: string;
  /** Empty for a command outside of a message. */
  messageId: string;
}

/**
 * Where the conversation of a message or interaction is: a direct message, a thread, or the thread that is created from the
 * message. Discord gives a thread the id of the message it is created from, so the conversation is the same before and after.
 */
export function placeOf(source: JsonObject, { channel, messageId }: MessageAddress): ConversationPlace {
  if (idIn(source.guild_id) === '') return { place: channel, thread: '', isGroup: false };
  if (!isInThread(source)) return { place: channel, thread: messageId, isGroup: true };
  const parent = idIn(objectIn(source.channel).parent_id);
  return { place: parent || channel, thread: channel, isGroup: true };
}

/** Messages of the gateway name the type of their channel; only those in threads have a position. */
function isInThread({ channel, channel_type, position }: JsonObject): boolean {
  const type = channel_type ?? objectIn(channel).type;
  return type === undefined ? typeof position === 'number' : THREADS.includes(type);
}
