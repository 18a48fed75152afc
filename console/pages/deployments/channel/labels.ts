import type { Channel, ChannelConversation, Delivery, Post } from '../../../gen/index.ts';
import type { Tone } from '../../../ui/badge.tsx';

export const PROVIDERS: readonly { value: Channel['provider']; text: string; about: string }[] = [
  { value: 'slack', text: 'Slack', about: 'A bot in channels, threads and direct messages of a workspace.' },
  { value: 'telegram', text: 'Telegram', about: 'A bot in private chats, groups and topics.' },
  { value: 'discord', text: 'Discord', about: 'A bot in channels, threads and direct messages of a server.' },
  {
    value: 'http',
    text: 'Another product (HTTP)',
    about: 'Signed HTTP requests bring messages and pull the answers.',
  },
];

interface Mode {
  value: Channel['config']['mode'];
  text: string;
  about: string;
}

/** The first mode is the default. */
export const MODES: Record<Channel['provider'], readonly [Mode, ...Mode[]]> = {
  slack: [
    { value: 'socket', text: 'Socket Mode', about: 'Slack needs no public address of this service.' },
    { value: 'http', text: 'Events API', about: 'Slack sends events to the callback URL.' },
  ],
  telegram: [
    { value: 'polling', text: 'Polling', about: 'Telegram needs no public address of this service.' },
    { value: 'http', text: 'Webhook', about: 'Telegram sends updates to the callback URL.' },
  ],
  discord: [
    { value: 'gateway', text: 'Gateway', about: 'Mentions, threads, direct messages and commands.' },
    { value: 'http', text: 'Interactions', about: 'Only commands and buttons, sent to the callback URL.' },
  ],
  http: [{ value: 'pull', text: 'Pull', about: 'The product sends messages and pulls the answers.' }],
};

export interface CredentialField {
  name: 'bot_token' | 'signing_secret' | 'app_token' | 'application_id' | 'public_key';
  label: string;
  hint: string;
  /** Only with this mode. */
  mode?: Mode['value'];
}

export const CREDENTIAL_FIELDS: Record<Channel['provider'], readonly CredentialField[]> = {
  slack: [
    { name: 'bot_token', label: 'Bot token', hint: 'OAuth & Permissions: begins with xoxb-.' },
    {
      name: 'signing_secret',
      label: 'Signing secret',
      hint: 'Basic Information, App Credentials.',
      mode: 'http',
    },
    {
      name: 'app_token',
      label: 'App-level token',
      hint: 'Basic Information, with the scope connections:write: begins with xapp-.',
      mode: 'socket',
    },
  ],
  telegram: [{ name: 'bot_token', label: 'Bot token', hint: 'From BotFather.' }],
  discord: [
    { name: 'bot_token', label: 'Bot token', hint: 'Bot, Reset Token.' },
    { name: 'application_id', label: 'Application ID', hint: 'General Information.' },
    {
      name: 'public_key',
      label: 'Public key',
      hint: 'General Information: 64 hexadecimal digits.',
      mode: 'http',
    },
  ],
  http: [],
};

export const RESPOND_TO = [
  { value: 'mentions', text: 'Mentions', about: 'In groups: mentions, replies to the bot and its threads.' },
  { value: 'all', text: 'All messages', about: 'Every message of the groups that the bot is in.' },
] as const;

export const ACCESS = [
  { value: 'linked', text: 'Linked users', about: 'People with a linked account who may use the agent.' },
  { value: 'list', text: 'A list', about: 'The accounts and places listed below.' },
  { value: 'anyone', text: 'Anyone', about: 'Everyone who can write to the bot.' },
] as const;

export const OWNERS = [
  {
    value: 'creator',
    text: 'The creator',
    about: 'All sessions belong to the user who created the channel.',
  },
  { value: 'sender', text: 'The sender', about: 'Each session belongs to the linked user who starts it.' },
] as const;

export const APPROVERS = [
  { value: 'owner', text: 'The owner of the session' },
  { value: 'managers', text: 'Managers of the agent' },
  { value: 'initiator', text: 'The sender of the message' },
] as const;

export const BUSY = [
  { value: 'enqueue', text: 'Wait' },
  { value: 'interrupt', text: 'Interrupt the turn' },
] as const;

export const EDITS = [
  { value: 'edit', text: 'While the agent answers' },
  { value: 'final_only', text: 'When the answer is complete' },
] as const;

export const SHOW_TOOLS = [
  { value: 'none', text: 'Hidden' },
  { value: 'status', text: 'While they run' },
  { value: 'list', text: 'As a list' },
] as const;

export const CONNECTION_STATES: Record<Channel['connection']['state'], { text: string; tone: Tone }> = {
  connected: { text: 'Connected', tone: 'good' },
  connecting: { text: 'Connecting', tone: 'accent' },
  failed: { text: 'Failed', tone: 'bad' },
  off: { text: 'Off', tone: 'plain' },
};

export const DELIVERY_RESULTS: Record<Delivery['result'], { text: string; tone: Tone }> = {
  pending: { text: 'Pending', tone: 'accent' },
  accepted: { text: 'Accepted', tone: 'good' },
  duplicate: { text: 'Duplicate', tone: 'plain' },
  ignored: { text: 'Ignored', tone: 'plain' },
  refused: { text: 'Refused', tone: 'warn' },
  failed: { text: 'Failed', tone: 'bad' },
};

export const POST_STATES: Record<Post['state'], { text: string; tone: Tone }> = {
  wanted: { text: 'Waiting', tone: 'accent' },
  posting: { text: 'Sending', tone: 'accent' },
  posted: { text: 'Sent', tone: 'good' },
  failed: { text: 'Refused', tone: 'bad' },
  dead: { text: 'Given up', tone: 'bad' },
};

export const CONVERSATION_STATES: Record<ChannelConversation['state'], { text: string; tone: Tone }> = {
  engaged: { text: 'Active', tone: 'accent' },
  idle: { text: 'Idle', tone: 'plain' },
  failing: { text: 'Failing', tone: 'bad' },
};

/** A reason without an entry is shown as a sentence of its own words. */
const REASONS: Record<string, string> = {
  not_linked: 'The account is not linked to a user.',
  owner_not_linked: 'The account is not linked, so there is no owner for the session.',
  no_access: 'The linked user may not use the agent.',
  not_listed: 'Neither the account nor the place is listed.',
  external_user: 'The account belongs to another organization.',
  user_disabled: 'The linked user is disabled.',
  not_mentioned: 'A message of a group without a mention.',
  bot_message: 'A message of a bot.',
  own_message: 'A message of the bot itself.',
  not_addressed: 'The message does not address the bot.',
  no_content: 'The message has neither text nor files.',
  no_sender: 'The event names no sender.',
  not_an_approver: 'The account may not decide this approval.',
  input_not_whole: 'The input was not shown whole, so it can be allowed only in the console.',
  quota_exceeded: 'The quota of the owner is used up.',
  unknown_command: 'The bot does not know the command.',
  not_connected: 'No channel worker had asked the product for the bot, so the event could not be checked.',
  app_mismatch: 'The event belongs to another app.',
  team_mismatch: 'The event belongs to another workspace.',
  unavailable: 'The service or the product was unavailable.',
  edited: 'The change of a message.',
  bad_signature: 'The signature does not match.',
  bad_secret_token: 'The secret token does not match.',
  malformed: 'The event is malformed.',
  stale_timestamp: 'The timestamp is too old or in the future.',
};

export const reasonText = (reason: string | null): string =>
  reason === null ? '' : (REASONS[reason] ?? sentenceOf(reason));

function sentenceOf(reason: string): string {
  const text = reason.replaceAll('_', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
