import type { APIMessage, APIUser } from 'discord.js';
import type { DiscordApplication } from './application.ts';
import { GUILDS } from './gateway/intents.ts';
import type { Interactions } from './interactions.ts';
import { createMessage, dispatch, EPHEMERAL, editMessage } from './messages.ts';
import { channelObject, guildObject, roleObject, userObject } from './objects.ts';
import {
  createStoredChannel,
  DIRECT,
  type DiscordState,
  type Restriction,
  type StoredChannel,
  type StoredGuild,
  type StoredInteraction,
  TEXT,
} from './state.ts';
import { createThread } from './threads.ts';

export interface DiscordPost {
  from: APIUser;
  channel: StoredChannel;
  content?: string;
  replyTo?: APIMessage;
  /** `url` replaces the address of the attachment. */
  files?: { name: string; type: string; bytes: Uint8Array; url?: string }[];
}

/** Acts as the users of the product. Every action takes effect at once and delivers events to the bots that may see it. */
export interface DiscordWorld {
  createUser(username: string): APIUser;
  /** A guild with these users and bots (default: all bots). Each bot has a role of its own. */
  createGuild(name: string, users: APIUser[], options?: { applications?: DiscordApplication[] }): StoredGuild;
  createChannel(guild: StoredGuild, name: string): StoredChannel;
  /** The direct message channel of a user with a bot (default: the first one). */
  directChannel(user: APIUser, application?: DiscordApplication): StoredChannel;
  /** A thread of a channel, or of one of its messages. */
  createThread(channel: StoredChannel, name: string, by: APIUser, message?: APIMessage): StoredChannel;
  /** The thread that was created from a message. */
  threadOf(message: APIMessage): StoredChannel;
  /** Archives a thread: its messages cannot be edited until a new message unarchives it. */
  archive(thread: StoredChannel): void;
  /** Takes rights in a channel from a bot; an empty list gives them back. */
  restrict(channel: StoredChannel, rights: Restriction[], application?: DiscordApplication): void;
  /** Deletes a channel. */
  deleteChannel(channel: StoredChannel): void;
  /** The text that mentions a bot or a user. */
  mention(user: APIUser | DiscordApplication): string;
  /** The text that mentions the role of a bot in a guild, which users confuse with the bot. */
  mentionRole(guild: StoredGuild, application?: DiscordApplication): string;
  post(post: DiscordPost): APIMessage;
  edit(channel: StoredChannel, message: APIMessage, content: string): APIMessage;
  /** Clicks a button by its label. The interaction shows what the user sees: `waiting`, `deferred`, `answered`, `failed`. */
  click(user: APIUser, channel: StoredChannel, message: APIMessage, label: string): StoredInteraction;
  /** Runs a command of a bot with string options. The command must be registered. */
  runCommand(
    user: APIUser,
    channel: StoredChannel,
    name: string,
    options?: Record<string, string>,
    application?: DiscordApplication,
  ): StoredInteraction;
  /** The messages of a channel now, oldest first, with the ephemeral ones if `isComplete`. */
  messages(channel: StoredChannel, isComplete?: boolean): APIMessage[];
}

export function createDiscordWorld(state: DiscordState, interactions: Interactions): DiscordWorld {
  function first(): DiscordApplication {
    const [application] = state.applications;
    if (!application) throw new Error('the server has no application');
    return application;
  }
  function add(channel: StoredChannel): StoredChannel {
    state.channels.set(channel.id, channel);
    return channel;
  }
  function current({ messages }: StoredChannel, { id }: APIMessage): APIMessage {
    const message = messages.get(id);
    if (!message) throw new Error(`no message ${id}`);
    return message;
  }

  return {
    createUser(username) {
      const user = userObject(state.nextId(), username, false);
      state.users.set(user.id, user);
      return user;
    },
    createGuild(name, users, { applications = state.applications } = {}) {
      const id = state.nextId();
      const bots = applications.map(({ bot }) => roleObject(state.nextId(), bot.username, bot.id));
      const guild: StoredGuild = {
        ...{ id, name, ownerId: users[0]?.id ?? state.nextId(), joinedAt: state.now().toISOString() },
        // The role of all members has the id of the guild.
        roles: [roleObject(id, '@everyone'), ...bots],
        members: new Map(users.map((user) => [user.id, { user, nick: null, roles: [] }])),
        applications: new Set(applications),
      };
      for (const [index, { bot }] of applications.entries())
        guild.members.set(bot.id, {
          user: bot,
          nick: null,
          roles: bots.slice(index, index + 1).map((role) => role.id),
        });
      state.guilds.set(id, guild);
      for (const application of applications)
        for (const session of application.sessions)
          session.dispatch({
            type: 'GUILD_CREATE',
            data: guildObject(state, guild, application),
            intents: GUILDS,
          });
      return guild;
    },
    createChannel(guild, name) {
      const channel = add(createStoredChannel({ id: state.nextId(), type: TEXT, name, guild }));
      dispatch(state, channel, 'CHANNEL_CREATE', channelObject(channel), GUILDS);
      return channel;
    },
    directChannel(user, application = first()) {
      const isSame = ({ recipient }: StoredChannel) =>
        recipient?.user === user && recipient.application === application;
      const known = [...state.channels.values()].find(isSame);
      const recipient = { user, application };
      return known ?? add(createStoredChannel({ id: state.nextId(), type: DIRECT, name: null, recipient }));
    },
    createThread: (channel, name, owner, message) =>
      createThread(state, channel, { name, owner, message: message && current(channel, message) }),
    threadOf({ id }) {
      const thread = state.channels.get(id);
      if (!thread) throw new Error(`no thread of the message ${id}`);
      return thread;
    },
    archive(thread) {
      thread.isArchived = true;
      dispatch(state, thread, 'THREAD_UPDATE', channelObject(thread), GUILDS);
    },
    restrict(channel, rights, application = first()) {
      channel.restrictions.set(application, new Set(rights));
    },
    deleteChannel(channel) {
      state.channels.delete(channel.id);
      dispatch(state, channel, 'CHANNEL_DELETE', channelObject(channel), GUILDS);
    },
    mention: (user) => `<@${'bot' in user && typeof user.bot === 'object' ? user.bot.id : user.id}>`,
    mentionRole(guild, { bot } = first()) {
      const role = guild.roles.find(({ tags }) => tags?.bot_id === bot.id);
      return `<@&${role?.id}>`;
    },
    post({ from, channel, content = '', replyTo, files = [] }) {
      channel.isArchived = false;
      return createMessage(state, channel, {
        author: from,
        body: { content, ...(replyTo && { message_reference: { message_id: replyTo.id } }) },
        files: files.map(({ name, type, bytes, url }, index) => ({
          ...{ index, field: `files[${index}]`, name, contentType: type, bytes: Buffer.from(bytes), url },
        })),
      });
    },
    edit: (channel, message, content) =>
      editMessage(state, channel, current(channel, message), { body: { content } }),
    click(user, channel, message, label) {
      const clicked = current(channel, message);
      const rows = (clicked.components ?? []) as {
        components?: { label?: string; custom_id?: string; disabled?: boolean }[];
      }[];
      const buttons = rows.flatMap(({ components = [] }) => components);
      const button = buttons.find((one) => one.label === label && !one.disabled);
      if (!button)
        throw new Error(`no button "${label}" among ${buttons.map((one) => one.label).join(', ')}`);
      const application = state.applications.find(({ bot }) => bot.id === clicked.author.id) ?? first();
      const data = { custom_id: button.custom_id, component_type: 2, id: 1 };
      return interactions.create({
        application,
        user,
        channel,
        type: 3,
        data,
        message: structuredClone(clicked),
      });
    },
    runCommand(user, channel, name, options = {}, application = first()) {
      const scopes = [channel.guild?.id ?? 'global', 'global'];
      const commands = scopes.flatMap((scope) => application.commands.get(scope) ?? []);
      const command = commands.find((one) => one.name === name);
      if (!command) throw new Error(`no command ${name} among ${commands.map((one) => one.name).join(', ')}`);
      const values = Object.entries(options).map(([option, value]) => ({ name: option, type: 3, value }));
      const data = { id: command.id, name, type: 1, options: values };
      return interactions.create({ application, user, channel, type: 2, data });
    },
    messages(channel, isComplete = false) {
      const all = [...channel.messages.values()];
      const visible = all.filter(({ flags }) => isComplete || ((flags ?? 0) & EPHEMERAL) === 0);
      return structuredClone(visible);
    },
  };
}
