import type { Clock } from '../../../../lib/clock.ts';
import type { Block } from './blocks.ts';
import type { Identifiers } from './identifiers.ts';

export interface SlackUser {
  id: string;
  name: string;
  email: string;
  /** The workspace of the user: another one for users of Slack Connect. */
  teamId: string;
  isBot: boolean;
}

export interface MessageMetadata {
  event_type: string;
  event_payload: Record<string, unknown>;
}

export interface SlackMessage {
  ts: string;
  /** The author: a user, or the bot's user. */
  user: string;
  text: string;
  /** The argument `markdown_text` of the call that posted it. */
  markdown?: string;
  blocks?: Block[];
  threadTs?: string;
  metadata?: MessageMetadata;
  files: SlackFile[];
  edited?: { user: string; ts: string };
  /** The root of a thread that was deleted. Its replies stay. */
  isTombstone?: boolean;
  /** A reply that its author sent to the channel, too. */
  isBroadcast?: boolean;
  clientMsgId?: string;
  /** Whether `@channel` without brackets notifies, too. */
  linksNames?: boolean;
}

export interface SlackFile {
  id: string;
  name: string;
  mimetype: string;
  user: string;
  bytes: Buffer;
  created: number;
  /** Where the file was shared: channel ids with the timestamps of the messages. */
  shares: { channel: string; ts: string; threadTs?: string }[];
  isDeleted: boolean;
  /** Replaces the address of the content. */
  urlPrivate?: string;
  /** Events have the id alone, as for files of Slack Connect. */
  needsFileInfo: boolean;
}

export interface SlackChannel {
  id: string;
  name: string;
  kind: 'channel' | 'group' | 'im';
  members: Set<string>;
  isArchived: boolean;
  /** Shared with another workspace by Slack Connect. */
  isExternal: boolean;
  messages: SlackMessage[];
  ephemerals: { user: string; message: SlackMessage }[];
}

export interface SlackApp {
  appId: string;
  botId: string;
  botUser: string;
  botName: string;
  botToken: string;
  appToken: string;
  signingSecret: string;
  /** The deprecated verification token in payloads. */
  verificationToken: string;
  scopes: Set<string>;
  /** The error of every call with the bot token, after it was revoked. */
  tokenError?: string;
}

/** What happened to a message. The feed makes events of it. */
export interface MessageChange {
  kind: 'posted' | 'changed' | 'deleted';
  channel: SlackChannel;
  message: SlackMessage;
  previous?: SlackMessage;
}

/** The state of one workspace with one installed app. */
export class Workspace {
  readonly teamId: string;
  readonly domain = 'example';
  readonly users = new Map<string, SlackUser>();
  readonly channels = new Map<string, SlackChannel>();
  readonly files = new Map<string, SlackFile>();
  readonly app: SlackApp;
  readonly ids: Identifiers;
  readonly clock: Clock;
  /** Is told of each change after it has taken effect. */
  onChange: (change: MessageChange) => void = () => {};

  constructor(ids: Identifiers, clock: Clock, scopes: readonly string[]) {
    this.ids = ids;
    this.clock = clock;
    this.teamId = ids.id('T');
    const appId = ids.id('A');
    this.app = {
      appId,
      botId: ids.id('B'),
      botUser: ids.id('U'),
      botName: 'agent',
      botToken: `xoxb-${ids.hex(12)}-${ids.hex(24)}`,
      appToken: `xapp-1-${appId}-${ids.hex(12)}-${ids.hex(64)}`,
      signingSecret: ids.hex(32),
      verificationToken: ids.hex(24),
      scopes: new Set(scopes),
    };
    const { botUser: id, botName: name } = this.app;
    this.users.set(id, { id, name, email: '', teamId: this.teamId, isBot: true });
  }

  addUser(name: string, { email = `${name}@example.com`, teamId = this.teamId } = {}): SlackUser {
    const user = { id: this.ids.id('U'), name, email, teamId, isBot: false };
    this.users.set(user.id, user);
    return user;
  }

  addChannel(name: string, kind: SlackChannel['kind'], members: Iterable<string>): SlackChannel {
    const prefix = kind === 'im' ? 'D' : 'C';
    const channel: SlackChannel = {
      id: this.ids.id(prefix),
      name,
      kind,
      members: new Set(members),
      isArchived: false,
      isExternal: false,
      messages: [],
      ephemerals: [],
    };
    this.channels.set(channel.id, channel);
    return channel;
  }

  /** The direct messages of the bot and a user. */
  directMessages(user: string): SlackChannel {
    const known = [...this.channels.values()].find(({ kind, members }) => kind === 'im' && members.has(user));
    return known ?? this.addChannel('', 'im', [user, this.app.botUser]);
  }

  addFile(file: Partial<SlackFile> & Pick<SlackFile, 'name' | 'user' | 'bytes'>): SlackFile {
    const added: SlackFile = {
      id: this.ids.id('F'),
      mimetype: 'application/octet-stream',
      created: Math.floor(this.clock.now().getTime() / 1000),
      shares: [],
      isDeleted: false,
      needsFileInfo: false,
      ...file,
    };
    this.files.set(added.id, added);
    return added;
  }

  message(channel: SlackChannel, ts: string | undefined): SlackMessage | undefined {
    return channel.messages.find((message) => message.ts === ts);
  }

  /** The messages of a thread, the root first. */
  thread(channel: SlackChannel, root: string): SlackMessage[] {
    return channel.messages.filter(({ ts, threadTs }) => ts === root || threadTs === root);
  }

  post(
    channel: SlackChannel,
    message: Omit<SlackMessage, 'ts' | 'files'> & { files?: SlackFile[] },
  ): SlackMessage {
    const posted: SlackMessage = { files: [], ...message, ts: this.ids.ts() };
    for (const { shares } of posted.files)
      shares.push({
        channel: channel.id,
        ts: posted.ts,
        ...(posted.threadTs && { threadTs: posted.threadTs }),
      });
    channel.messages.push(posted);
    this.onChange({ kind: 'posted', channel, message: posted });
    return posted;
  }

  change(channel: SlackChannel, message: SlackMessage, change: Partial<SlackMessage>): void {
    const previous = { ...message };
    Object.assign(message, change);
    this.onChange({ kind: 'changed', channel, message, previous });
  }

  remove(channel: SlackChannel, message: SlackMessage): void {
    const previous = { ...message };
    const hasReplies = channel.messages.some(({ threadTs }) => threadTs === message.ts);
    if (hasReplies) {
      Object.assign(message, { text: 'This message was deleted.', isTombstone: true, files: [] });
      delete message.blocks;
      delete message.metadata;
    } else {
      channel.messages.splice(channel.messages.indexOf(message), 1);
    }
    this.onChange({ kind: 'deleted', channel, message, previous });
  }
}
