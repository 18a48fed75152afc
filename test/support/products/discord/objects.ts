import type {
  APIChannel,
  APIGuildMember,
  APIRole,
  APIUser,
  GatewayGuildCreateDispatchData,
} from 'discord.js';
import type { DiscordApplication } from './application.ts';
import { timestampOf } from './snowflakes.ts';
import {
  canView,
  DIRECT,
  type DiscordState,
  PUBLIC_THREAD,
  type StoredChannel,
  type StoredGuild,
} from './state.ts';

/** Rights of members: see, send, reply in threads, read the history, attach files, use commands, create threads. */
const PERMISSIONS = String(
  (1n << 10n) | (1n << 11n) | (1n << 38n) | (1n << 16n) | (1n << 15n) | (1n << 31n) | (1n << 35n),
);

export function userObject(id: string, username: string, isBot: boolean): APIUser {
  return {
    id,
    username,
    discriminator: isBot ? '0001' : '0',
    global_name: isBot ? null : username,
    avatar: null,
    ...(isBot && { bot: true }),
    public_flags: 0,
  } as unknown as APIUser;
}

/** A channel as the REST API and the gateway show it. */
export function channelObject(channel: StoredChannel): APIChannel {
  const { id, type, name, guild, parent, ownerId, recipient } = channel;
  const last_message_id = [...channel.messages.keys()].at(-1) ?? null;
  if (type === DIRECT)
    return {
      id,
      type,
      last_message_id,
      recipients: recipient ? [recipient.user] : [],
      flags: 0,
    } as unknown as APIChannel;
  const common = { id, type, name, guild_id: guild?.id, last_message_id, flags: 0, rate_limit_per_user: 0 };
  if (type !== PUBLIC_THREAD)
    return {
      ...common,
      position: 0,
      parent_id: null,
      permission_overwrites: [],
      nsfw: false,
      topic: null,
    } as unknown as APIChannel;
  return {
    ...common,
    parent_id: parent?.id,
    owner_id: ownerId,
    message_count: channel.messages.size,
    member_count: 2,
    total_message_sent: channel.messages.size,
    thread_metadata: {
      archived: channel.isArchived,
      auto_archive_duration: 1440,
      archive_timestamp: timestampOf(id),
      locked: false,
      create_timestamp: timestampOf(id),
    },
  } as unknown as APIChannel;
}

export function memberObject(guild: StoredGuild, userId: string): Omit<APIGuildMember, 'user'> {
  const member = guild.members.get(userId);
  return {
    nick: member?.nick ?? null,
    avatar: null,
    roles: member?.roles ?? [],
    joined_at: guild.joinedAt,
    premium_since: null,
    deaf: false,
    mute: false,
    flags: 0,
    pending: false,
    communication_disabled_until: null,
  } as unknown as Omit<APIGuildMember, 'user'>;
}

export function roleObject(id: string, name: string, botId?: string): APIRole {
  return {
    id,
    name,
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    icon: null,
    unicode_emoji: null,
    position: botId === undefined ? 0 : 1,
    permissions: PERMISSIONS,
    managed: botId !== undefined,
    mentionable: false,
    flags: 0,
    ...(botId !== undefined && { tags: { bot_id: botId } }),
  } as unknown as APIRole;
}

/** A guild with the channels and threads that the bot may see, as after READY. */
export function guildObject(
  state: DiscordState,
  guild: StoredGuild,
  application: DiscordApplication,
): GatewayGuildCreateDispatchData {
  const visible = [...state.channels.values()].filter(
    (channel) => channel.guild === guild && canView(application, channel),
  );
  const bot = guild.members.get(application.bot.id);
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    owner_id: guild.ownerId,
    roles: guild.roles,
    emojis: [],
    features: [],
    afk_timeout: 300,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    system_channel_flags: 0,
    premium_tier: 0,
    preferred_locale: 'en-US',
    nsfw_level: 0,
    premium_progress_bar_enabled: false,
    stickers: [],
    joined_at: guild.joinedAt,
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    voice_states: [],
    members: bot ? [{ user: bot.user, ...memberObject(guild, bot.user.id) }] : [],
    channels: visible.filter(({ type }) => type !== PUBLIC_THREAD).map(channelObject),
    threads: visible.filter(({ type }) => type === PUBLIC_THREAD).map(channelObject),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  } as unknown as GatewayGuildCreateDispatchData;
}

export { PERMISSIONS };
