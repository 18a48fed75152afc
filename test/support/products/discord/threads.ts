import type { APIMessage, APIUser } from 'discord.js';
import { threadExists } from './errors.ts';
import { GUILDS } from './gateway/intents.ts';
import { createMessage, dispatch, THREAD_STARTER } from './messages.ts';
import { channelObject } from './objects.ts';
import { createStoredChannel, type DiscordState, PUBLIC_THREAD, type StoredChannel } from './state.ts';

export interface NewThread {
  name: string;
  owner: APIUser;
  /** The thread of a message has the id of its message. */
  message?: APIMessage | undefined;
}

/** Creates a public thread and tells the bots that see its channel. */
export function createThread(
  state: DiscordState,
  parent: StoredChannel,
  { name, owner, message }: NewThread,
): StoredChannel {
  if (message && state.channels.has(message.id)) throw threadExists();
  const thread = createStoredChannel({
    id: message?.id ?? state.nextId(),
    type: PUBLIC_THREAD,
    name,
    guild: parent.guild,
    parent,
    ownerId: owner.id,
  });
  state.channels.set(thread.id, thread);
  dispatch(state, thread, 'THREAD_CREATE', { ...channelObject(thread), newly_created: true }, GUILDS);
  if (!message) return thread;
  message.thread = channelObject(thread);
  message.flags = (message.flags ?? 0) | (1 << 5);
  // The first message of the thread of a message is a copy of it without content.
  createMessage(state, thread, {
    author: owner,
    body: {},
    extra: {
      type: THREAD_STARTER,
      message_reference: {
        type: 0,
        message_id: message.id,
        channel_id: parent.id,
        guild_id: parent.guild?.id,
      },
    } as Partial<APIMessage>,
  });
  return thread;
}
