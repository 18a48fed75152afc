import type { APIMessage, APIRole, APIUser } from 'discord.js';
import type { DiscordApplication } from './application.ts';

export type Restriction = 'view' | 'send' | 'threads' | 'files' | 'history';

/** Channel types: a text channel, a direct message, a public thread. */
export const TEXT = 0;
export const DIRECT = 1;
export const PUBLIC_THREAD = 11;

export interface StoredChannel {
  id: string;
  type: typeof TEXT | typeof DIRECT | typeof PUBLIC_THREAD;
  name: string | null;
  guild: StoredGuild | undefined;
  /** The channel of a thread. */
  parent: StoredChannel | undefined;
  /** The creator of a thread. */
  ownerId: string | undefined;
  /** The user and the application of a direct message. */
  recipient: { user: APIUser; application: DiscordApplication } | undefined;
  isArchived: boolean;
  /** Users with a direct message channel may refuse messages of the bot. */
  isClosed: boolean;
  messages: Map<string, APIMessage>;
  /** Rights that a bot lacks here, by application. */
  restrictions: Map<DiscordApplication, Set<Restriction>>;
}

export interface StoredGuild {
  id: string;
  name: string;
  ownerId: string;
  joinedAt: string;
  /** `@everyone` and the roles of the bots. */
  roles: APIRole[];
  members: Map<string, { user: APIUser; nick: string | null; roles: string[] }>;
  applications: Set<DiscordApplication>;
}

export interface StoredInteraction {
  id: string;
  token: string;
  application: DiscordApplication;
  user: APIUser;
  channel: StoredChannel;
  /** The message whose button was clicked. */
  message: APIMessage | undefined;
  createdMs: number;
  /** What the user sees: a spinner until an answer, or “This interaction failed”. */
  state: 'waiting' | 'deferred' | 'answered' | 'failed';
  /** The type of the callback. */
  callbackType: number | undefined;
  isEphemeral: boolean;
  /** The id of the answer, `@original`. */
  originalId: string | undefined;
}

export interface StoredAttachment {
  id: string;
  bytes: Uint8Array;
  contentType: string;
  /** The path below the CDN's root. */
  path: string;
  expiresSeconds: number;
  signature: string;
}

/** Addresses that responses have instead of those of this server, to test that a client refuses them. */
export interface DiscordOverrides {
  /** The URL of `GET /gateway/bot`. */
  gatewayUrl?: string;
  /** The URL of READY for resuming. */
  resumeUrl?: string;
  /** Downloads of attachments redirect to this URL. */
  downloadLocation?: string;
}

export interface DiscordState {
  overrides: DiscordOverrides;
  applications: DiscordApplication[];
  guilds: Map<string, StoredGuild>;
  channels: Map<string, StoredChannel>;
  users: Map<string, APIUser>;
  interactions: Map<string, StoredInteraction>;
  attachments: Map<string, StoredAttachment>;
  /** Messages with an enforced nonce: `<application> <channel> <nonce>` to the message. */
  nonces: Map<string, { message: APIMessage; ms: number }>;
  /** The root of attachments. */
  cdnUrl: string;
  nextId(): string;
  now(): Date;
  random(): number;
}

/** Whether a bot may see the messages of a channel. */
export function canView(application: DiscordApplication, channel: StoredChannel): boolean {
  const isMember =
    channel.guild?.applications.has(application) ?? channel.recipient?.application === application;
  return isMember && !isRestricted(application, channel, 'view');
}

/** Rights in a thread follow from its channel. */
export function isRestricted(
  application: DiscordApplication,
  channel: StoredChannel,
  right: Restriction,
): boolean {
  const own = channel.restrictions.get(application)?.has(right) ?? false;
  return own || (channel.parent !== undefined && isRestricted(application, channel.parent, right));
}

export function createStoredChannel(
  channel: Pick<StoredChannel, 'id' | 'type' | 'name'> & Partial<StoredChannel>,
): StoredChannel {
  return {
    guild: undefined,
    parent: undefined,
    ownerId: undefined,
    recipient: undefined,
    isArchived: false,
    isClosed: false,
    messages: new Map(),
    restrictions: new Map(),
    ...channel,
  };
}
