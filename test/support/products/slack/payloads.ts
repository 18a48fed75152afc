import { findButton } from './blocks.ts';
import { botObject, type Json, messageObject } from './objects.ts';
import type { MessageChange, SlackChannel, SlackMessage, Workspace } from './workspace.ts';

const HISTORY_SCOPES = { channel: 'channels:history', group: 'groups:history', im: 'im:history' } as const;

/** The events of a change that the app may see. One mention in a channel is both a `message` and an `app_mention`. */
export function eventsOf(workspace: Workspace, change: MessageChange, origin: string): Json[] {
  const { channel, message } = change;
  const { app } = workspace;
  if (!channel.members.has(app.botUser)) return [];
  const events: Json[] = [];
  if (app.scopes.has(HISTORY_SCOPES[channel.kind])) events.push(messageEvent(workspace, change, origin));
  const wasMentioned = change.previous?.text.includes(`<@${app.botUser}>`) ?? false;
  const isMention = message.text.includes(`<@${app.botUser}>`) && !wasMentioned && change.kind !== 'deleted';
  // Direct messages have no app_mention, and the app's own messages have none.
  if (
    isMention &&
    channel.kind !== 'im' &&
    message.user !== app.botUser &&
    app.scopes.has('app_mentions:read')
  ) {
    const body = messageObject(workspace, channel, message, origin, 'declared');
    events.push({ ...body, type: 'app_mention', channel: channel.id, event_ts: message.ts });
  }
  return events;
}

function messageEvent(workspace: Workspace, change: MessageChange, origin: string): Json {
  const { channel, message, previous, kind } = change;
  const place = { channel: channel.id, channel_type: channel.kind };
  const body = (one: SlackMessage) => messageObject(workspace, channel, one, origin, 'declared');
  if (kind === 'posted') {
    const subtype = message.files.length > 0 ? { subtype: 'file_share' } : {};
    return {
      ...body(message),
      ...subtype,
      ...place,
      event_ts: message.ts,
      ...foreignMembers(workspace, message),
    };
  }
  const ts = workspace.ids.ts();
  const common = { type: 'message', hidden: true, ...place, ts, event_ts: ts };
  const previous_message = previous && body(previous);
  return kind === 'changed' || message.isTombstone
    ? { ...common, subtype: 'message_changed', message: body(message), previous_message }
    : { ...common, subtype: 'message_deleted', deleted_ts: message.ts, previous_message };
}

/** Members of events that a user of another workspace caused through Slack Connect. */
function foreignMembers(workspace: Workspace, { user }: SlackMessage): Json {
  const teamId = workspace.users.get(user)?.teamId ?? workspace.teamId;
  return teamId === workspace.teamId
    ? {}
    : { user_team: teamId, source_team: teamId, user_profile: { team: teamId } };
}

/** Wraps an event as the Events API sends it. */
export function eventCallback(workspace: Workspace, event: Json): Json {
  const { app, teamId, ids, channels } = workspace;
  const channel = channels.get(String(event.channel));
  return {
    token: app.verificationToken,
    team_id: teamId,
    context_team_id: teamId,
    context_enterprise_id: null,
    api_app_id: app.appId,
    event,
    type: 'event_callback',
    event_id: ids.id('Ev'),
    event_time: Math.floor(workspace.clock.now().getTime() / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: teamId,
        user_id: app.botUser,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: channel?.isExternal ?? false,
    event_context: `4-${ids.hex(32)}`,
  };
}

/** The payload of a click on a button. Throws when the message has no such button. */
export function blockActions(
  workspace: Workspace,
  { user, channel, message, actionId, isEphemeral, origin, responseUrl }: Click,
): Json {
  const button = findButton(message.blocks, actionId);
  if (!button) throw new Error(`message ${message.ts} has no button with the action_id ${actionId}`);
  const { element, blockId } = button;
  const { app, teamId, domain, ids, users } = workspace;
  const { id, name, teamId: userTeam } = users.get(user) ?? { id: user, name: user, teamId };
  return {
    type: 'block_actions',
    user: { id, username: name, name, team_id: userTeam },
    api_app_id: app.appId,
    token: app.verificationToken,
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: channel.id,
      is_ephemeral: isEphemeral,
      ...(message.threadTs && { thread_ts: message.threadTs }),
    },
    trigger_id: `${ids.id('')}.${ids.hex(32)}`,
    team: { id: teamId, domain },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel.id, name: channel.kind === 'im' ? 'directmessage' : channel.name },
    ...(!isEphemeral && { message: messageObject(workspace, channel, message, origin) }),
    state: { values: {} },
    response_url: responseUrl,
    actions: [
      {
        action_id: actionId,
        block_id: blockId,
        text: element.text,
        ...(element.value !== undefined && { value: element.value }),
        ...(element.style && { style: element.style }),
        type: element.type,
        action_ts: ids.ts(),
      },
    ],
  };
}

export interface Click {
  user: string;
  channel: SlackChannel;
  message: SlackMessage;
  actionId: string;
  isEphemeral: boolean;
  origin: string;
  responseUrl: string;
}

/** The fields of a slash command. */
export function slashCommand(
  workspace: Workspace,
  { user, channel, command, text, responseUrl }: SlashCommand,
): Record<string, string> {
  const { app, teamId, domain, ids, users } = workspace;
  return {
    token: app.verificationToken,
    team_id: teamId,
    team_domain: domain,
    channel_id: channel.id,
    channel_name: channel.kind === 'im' ? 'directmessage' : channel.name,
    user_id: user,
    user_name: users.get(user)?.name ?? user,
    command,
    text,
    api_app_id: app.appId,
    is_enterprise_install: 'false',
    response_url: responseUrl,
    trigger_id: `${ids.id('')}.${ids.hex(32)}`,
  };
}

export interface SlashCommand {
  user: string;
  channel: SlackChannel;
  command: string;
  text: string;
  responseUrl: string;
}

/** The events of an app that was removed from the workspace. */
export function removalEvents(workspace: Workspace): Json[] {
  const bot = botObject(workspace).user_id;
  return [{ type: 'tokens_revoked', tokens: { oauth: [], bot: [bot] } }, { type: 'app_uninstalled' }];
}
