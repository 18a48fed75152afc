/**
 * The permissions that a bot needs at each messaging product. The setup of a channel asks for them, and the probe compares
 * them with those that the product has granted.
 */

/** The settings of a channel that need permissions. */
interface UsedFeatures {
  filesIn: boolean;
  filesOut: boolean;
  trustEmail: boolean;
}

/** https://docs.slack.dev/reference/events */
export const SLACK_BOT_EVENTS: readonly string[] = [
  'app_mention',
  'message.channels',
  'message.groups',
  'message.im',
  'message.mpim',
];

/** The scopes of the bot token, sorted (https://docs.slack.dev/reference/scopes). */
export function slackBotScopes({ filesIn, filesOut, trustEmail }: UsedFeatures): string[] {
  return [
    'app_mentions:read',
    // Messages of threads without a mention, and the search for a post whose answer was lost.
    'channels:history',
    'chat:write',
    'commands',
    ...(filesIn ? ['files:read'] : []),
    ...(filesOut ? ['files:write'] : []),
    'groups:history',
    'im:history',
    // Private notices.
    'im:write',
    'mpim:history',
    // Names of senders.
    'users:read',
    ...(trustEmail ? ['users:read.email'] : []),
  ];
}

/** The scope of the app-level token that opens sockets. */
export const SLACK_SOCKET_SCOPE = 'connections:write';

/** Positions of bits (https://docs.discord.com/developers/topics/permissions). */
const DISCORD_PERMISSION_BITS = {
  VIEW_CHANNEL: 10,
  SEND_MESSAGES: 11,
  ATTACH_FILES: 15,
  READ_MESSAGE_HISTORY: 16,
  CREATE_PUBLIC_THREADS: 35,
  SEND_MESSAGES_IN_THREADS: 38,
} as const;

export type DiscordPermission = keyof typeof DISCORD_PERMISSION_BITS;

export function discordPermissions({ filesOut }: Pick<UsedFeatures, 'filesOut'>): DiscordPermission[] {
  return [
    'VIEW_CHANNEL',
    'SEND_MESSAGES',
    ...(filesOut ? (['ATTACH_FILES'] as const) : []),
    'READ_MESSAGE_HISTORY',
    'CREATE_PUBLIC_THREADS',
    'SEND_MESSAGES_IN_THREADS',
  ];
}

/** The bit set as a decimal text, as Discord's API has it. */
export function discordPermissionSet(permissions: readonly DiscordPermission[]): string {
  let set = 0n;
  for (const permission of permissions) set |= 1n << BigInt(DISCORD_PERMISSION_BITS[permission]);
  return set.toString();
}

/** The scopes of the invitation. */
export const DISCORD_SCOPES: readonly string[] = ['bot', 'applications.commands'];

/** The intents of the gateway by name (https://docs.discord.com/developers/events/gateway). */
export const DISCORD_INTENTS = {
  GUILDS: 1 << 0,
  GUILD_MESSAGES: 1 << 9,
  DIRECT_MESSAGES: 1 << 12,
  /** Privileged: the owner of the application turns it on. Messages of threads without a mention need it. */
  MESSAGE_CONTENT: 1 << 15,
} as const;
