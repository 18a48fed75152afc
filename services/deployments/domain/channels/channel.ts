export const PROVIDERS = ['slack', 'telegram', 'discord', 'http'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** How events of the product arrive. */
export type ConnectionMode = 'http' | 'socket' | 'polling' | 'gateway' | 'pull';

/** The modes of each product. The last one is the default: it needs no public address. */
export const MODES: Readonly<Record<Provider, readonly [...ConnectionMode[], ConnectionMode]>> = {
  slack: ['http', 'socket'],
  telegram: ['http', 'polling'],
  discord: ['http', 'gateway'],
  http: ['pull'],
};

/** The product's name for people. */
export const PRODUCT_NAMES: Readonly<Record<Provider, string>> = {
  slack: 'Slack',
  telegram: 'Telegram',
  discord: 'Discord',
  http: 'the other product',
};

interface ChannelAccess {
  mode: 'linked' | 'list' | 'anyone';
  /** Ids of the product. Only with `list`. */
  people: readonly string[];
  places: readonly string[];
  /** Slack: users of other organizations in shared channels. */
  allowExternal: boolean;
}

interface ChannelApprovers {
  policy: 'owner' | 'managers' | 'initiator' | 'users';
  /** usr_…, only with `users`. */
  userIds: readonly string[];
}

/** The settings of a channel, checked and with all defaults. Stored as JSON. */
export interface ChannelConfig {
  mode: ConnectionMode;
  respondTo: 'mentions' | 'all';
  access: ChannelAccess;
  owner: 'creator' | 'sender';
  approvers: ChannelApprovers;
  busy: 'enqueue' | 'interrupt';
  edits: 'edit' | 'final_only';
  showTools: 'none' | 'status' | 'list';
  perChat: boolean;
  filesIn: boolean;
  filesOut: boolean;
  trustEmail: boolean;
  /** Null: the conversation keeps its session. */
  newSessionAfterIdleSeconds: number | null;
  greeting: string | null;
}

export function defaultConfig(provider: Provider): ChannelConfig {
  return {
    mode: defaultMode(provider),
    respondTo: 'mentions',
    access: { mode: 'linked', people: [], places: [], allowExternal: false },
    owner: 'creator',
    approvers: { policy: 'owner', userIds: [] },
    busy: 'enqueue',
    edits: 'edit',
    showTools: 'status',
    perChat: true,
    filesIn: true,
    filesOut: true,
    trustEmail: false,
    newSessionAfterIdleSeconds: null,
    greeting: null,
  };
}

function defaultMode(provider: Provider): ConnectionMode {
  return MODES[provider].at(-1) ?? 'http';
}

/** The bot as the product knows it. Empty texts are not known. */
export interface ChannelIdentity {
  botId: string;
  /** Slack: the bot_id of messages. */
  botProfileId: string;
  name: string;
  /** Slack: api_app_id. Discord: application id. */
  appId: string;
  /** Slack: team_id. */
  teamId: string;
  teamName: string;
}

/** The provider `http` has no bot. */
export const NO_BOT: ChannelIdentity = {
  botId: '',
  botProfileId: '',
  name: '',
  appId: '',
  teamId: '',
  teamName: '',
};

/** The part of a stored credential that is shown. */
export interface CredentialSummary {
  name: string;
  /** The last four characters. Empty for short values. */
  hint: string;
  updatedAt: Date;
}
