import type { Delivery } from './delivery.ts';
import { blockActions, slashCommand } from './payloads.ts';
import { type PostedMessage, viewOf } from './posted-message.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { SlackChannel, SlackFile, SlackMessage, SlackUser, Workspace } from './workspace.ts';

export interface AttachedFile extends Partial<Pick<SlackFile, 'mimetype' | 'urlPrivate' | 'needsFileInfo'>> {
  name: string;
  bytes: Buffer | string;
}

export interface PostOptions {
  /** The timestamp of the root of a thread. */
  thread?: string;
  files?: AttachedFile[];
  /** Begins the text with a mention of the bot. */
  mention?: boolean;
  /** Sends a reply to the channel, too. */
  broadcast?: boolean;
}

export interface MessageReference {
  channel: string;
  ts: string;
}

/** The result of a click or a command, which the app has to acknowledge within three seconds. */
export interface InteractionResult {
  isAcknowledged: boolean;
  /** The body of the acknowledgement. */
  response: string;
}

/** Acts as people in a workspace. Ids of channels and users are those of Slack. */
export interface Participants {
  teamId: string;
  /** Channels by purpose. The bot is in `general` and `secret`, which is private, and not in `outside`. */
  channels: { general: string; secret: string; outside: string };
  /** Two members of all channels. */
  users: { ada: string; grace: string };
  addUser(name: string, options?: { email?: string; isExternal?: boolean }): string;
  addChannel(name: string, options?: { isPrivate?: boolean; hasBot?: boolean; isExternal?: boolean }): string;
  /** Returns the direct messages of the bot and a user. */
  directMessages(user: string): string;
  /** Posts a message. Slack escapes `&`, `<` and `>` of its text. */
  postAs(user: string, channel: string, text: string, options?: PostOptions): MessageReference;
  editAs(user: string, message: MessageReference, text: string): void;
  deleteAs(user: string, message: MessageReference): void;
  deleteFile(id: string): void;
  archive(channel: string): void;
  /** Clicks a button of a message or of an ephemeral message. Throws when there is none. */
  click(user: string, message: MessageReference, actionId: string): Promise<InteractionResult>;
  /** Sends a command such as `/agent new`. Default: in `general`. */
  command(user: string, text: string, channel?: string): Promise<InteractionResult>;
  /** The messages of a channel, the oldest first. */
  messages(channel: string): PostedMessage[];
  thread(channel: string, root: string): PostedMessage[];
  ephemerals(channel: string, user: string): PostedMessage[];
}

interface ParticipantsOptions {
  workspace: Workspace;
  delivery: Delivery;
  responseUrls: ResponseUrls;
  origin: () => string;
}

export function createParticipants(options: ParticipantsOptions): Participants {
  const { workspace, delivery, responseUrls, origin } = options;
  const { app, teamId, users } = workspace;
  const ada = workspace.addUser('ada').id;
  const grace = workspace.addUser('grace').id;
  const everyone = () => [...users.values()].filter(({ isBot }) => !isBot).map(({ id }) => id);

  function channelOf(id: string): SlackChannel {
    const channel = workspace.channels.get(id);
    if (!channel) throw new Error(`no channel ${id}`);
    return channel;
  }
  function userOf(id: string): SlackUser {
    const user = users.get(id);
    if (!user) throw new Error(`no user ${id}`);
    return user;
  }
  function messageOf({ channel, ts }: MessageReference): { channel: SlackChannel; message: SlackMessage } {
    const found = channelOf(channel);
    const message = workspace.message(found, ts);
    if (!message) throw new Error(`no message ${ts} in ${channel}`);
    return { channel: found, message };
  }
  function addChannel(name: string, { isPrivate = false, hasBot = true, isExternal = false } = {}): string {
    const members = [...everyone(), ...(hasBot ? [app.botUser] : [])];
    const channel = workspace.addChannel(name, isPrivate ? 'group' : 'channel', members);
    channel.isExternal = isExternal;
    return channel.id;
  }
  const mentionOfBot = `<@${app.botUser}>`;
  const channels = {
    general: addChannel('general'),
    secret: addChannel('secret', { isPrivate: true }),
    outside: addChannel('outside', { hasBot: false }),
  };

  return {
    teamId,
    channels,
    users: { ada, grace },
    addChannel,
    addUser(name, { email, isExternal = false } = {}) {
      const team = isExternal ? { teamId: workspace.ids.id('T') } : {};
      const { id } = workspace.addUser(name, { ...(email !== undefined && { email }), ...team });
      for (const { kind, members } of workspace.channels.values()) if (kind !== 'im') members.add(id);
      return id;
    },
    directMessages: (user) => workspace.directMessages(userOf(user).id).id,
    postAs(user, channelId, text, { thread, files = [], mention = false, broadcast = false } = {}) {
      const channel = channelOf(channelId);
      const added = files.map(({ bytes, ...file }) =>
        workspace.addFile({ ...file, user: userOf(user).id, bytes: Buffer.from(bytes) }),
      );
      const { ts } = workspace.post(channel, {
        user: userOf(user).id,
        text: `${mention ? `${mentionOfBot} ` : ''}${escapeText(text)}`,
        clientMsgId: workspace.ids.uuid(),
        files: added,
        ...(thread && { threadTs: thread, isBroadcast: broadcast }),
      });
      return { channel: channelId, ts };
    },
    editAs(user, reference, text) {
      const { channel, message } = messageOf(reference);
      const mention = message.text.startsWith(mentionOfBot) ? `${mentionOfBot} ` : '';
      const edited = { user, ts: workspace.ids.ts() };
      workspace.change(channel, message, { text: `${mention}${escapeText(text)}`, edited });
    },
    deleteAs(_user, reference) {
      const { channel, message } = messageOf(reference);
      workspace.remove(channel, message);
    },
    deleteFile(id) {
      const file = workspace.files.get(id);
      if (!file) throw new Error(`no file ${id}`);
      file.isDeleted = true;
    },
    archive(id) {
      channelOf(id).isArchived = true;
    },
    async click(user, { channel: channelId, ts }, actionId) {
      const channel = channelOf(channelId);
      const ephemeral = channel.ephemerals.find((one) => one.user === user && one.message.ts === ts);
      const message = ephemeral?.message ?? messageOf({ channel: channelId, ts }).message;
      const isEphemeral = ephemeral !== undefined;
      const responseUrl = responseUrls.issue('actions', { user, channel, ...(!isEphemeral && { message }) });
      const click = { user, channel, message, actionId, isEphemeral, origin: origin(), responseUrl };
      const result = await delivery.once('interactive', blockActions(workspace, click));
      return { isAcknowledged: result.ok, response: result.ok ? result.response : '' };
    },
    async command(user, line, channelId = channels.general) {
      const [command = '', ...words] = line.split(' ');
      const channel = channelOf(channelId);
      const responseUrl = responseUrls.issue('commands', { user, channel });
      const payload = slashCommand(workspace, { user, channel, command, text: words.join(' '), responseUrl });
      const result = await delivery.once('slash_commands', payload);
      if (result.ok) responseUrls.apply(result.response, { user, channel });
      return { isAcknowledged: result.ok, response: result.ok ? result.response : '' };
    },
    messages: (id) => channelOf(id).messages.map((message) => viewOf(workspace, id, message)),
    thread: (id, root) =>
      workspace.thread(channelOf(id), root).map((message) => viewOf(workspace, id, message)),
    ephemerals: (id, user) =>
      channelOf(id)
        .ephemerals.filter((one) => one.user === user)
        .map(({ message }) => viewOf(workspace, id, message)),
  };
}

/** People type text, which has no control sequences (https://docs.slack.dev/messaging/formatting-message-text). */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
