import type {
  MessageMetadata,
  SlackChannel,
  SlackFile,
  SlackMessage,
  SlackUser,
  Workspace,
} from './workspace.ts';

export type Json = Record<string, unknown>;

/** A message as history, events and responses carry it. */
export function messageObject(
  workspace: Workspace,
  channel: SlackChannel,
  message: SlackMessage,
  origin: string,
  metadata: 'all' | 'declared' = 'all',
): Json {
  const { app, teamId } = workspace;
  const { ts, user, text, threadTs, blocks, files, edited, clientMsgId } = message;
  const isOwn = user === app.botUser;
  const replies = channel.messages.filter((reply) => reply.threadTs === ts);
  const root = threadTs === undefined ? undefined : workspace.message(channel, threadTs);
  return {
    ...(message.isTombstone && { subtype: 'tombstone', hidden: true }),
    ...(message.isBroadcast &&
      root && { subtype: 'thread_broadcast', root: { user: root.user, ts: root.ts } }),
    ...(clientMsgId && { client_msg_id: clientMsgId }),
    type: 'message',
    user,
    text,
    ts,
    ...(isOwn && { bot_id: app.botId, app_id: app.appId, bot_profile: botObject(workspace) }),
    // Messages with files have no team.
    ...(files.length === 0 && { team: workspace.users.get(user)?.teamId ?? teamId }),
    ...(blocks && { blocks }),
    ...(message.metadata && { metadata: visibleMetadata(message.metadata, metadata) }),
    ...(files.length > 0 && {
      files: files.map((file) => fileObject(workspace, file, origin)),
      upload: false,
    }),
    ...(edited && { edited }),
    ...(threadTs && { thread_ts: threadTs, parent_user_id: root?.user }),
    ...(replies.length > 0 && {
      thread_ts: ts,
      reply_count: replies.length,
      reply_users_count: new Set(replies.map((reply) => reply.user)).size,
      latest_reply: replies.at(-1)?.ts,
    }),
  };
}

/** Without `include_all_metadata`, a payload is visible only if the manifest of the app declares its type. */
function visibleMetadata({ event_type, event_payload }: MessageMetadata, which: 'all' | 'declared'): Json {
  return { event_type, event_payload: which === 'all' ? event_payload : {} };
}

export function userObject(workspace: Workspace, { id, name, email, teamId, isBot }: SlackUser): Json {
  const showsEmail = workspace.app.scopes.has('users:read.email') && !isBot;
  return {
    id,
    team_id: teamId,
    name,
    deleted: false,
    real_name: name,
    tz: 'Europe/Amsterdam',
    profile: { real_name: name, display_name: name, ...(showsEmail && { email }), team: teamId },
    is_admin: false,
    is_bot: isBot,
    is_app_user: false,
    is_email_confirmed: !isBot,
    ...(teamId !== workspace.teamId && { is_stranger: true }),
    updated: 1_767_225_600,
  };
}

export function channelObject(workspace: Workspace, channel: SlackChannel): Json {
  const { id, name, kind, members, isArchived, isExternal } = channel;
  const isMember = members.has(workspace.app.botUser);
  if (kind === 'im') {
    const user = [...members].find((member) => member !== workspace.app.botUser);
    return {
      id,
      is_im: true,
      is_archived: isArchived,
      is_open: true,
      user,
      context_team_id: workspace.teamId,
    };
  }
  return {
    id,
    name,
    name_normalized: name,
    is_channel: kind === 'channel',
    is_group: kind === 'group',
    is_im: false,
    is_mpim: false,
    is_private: kind === 'group',
    is_archived: isArchived,
    is_ext_shared: isExternal,
    is_member: isMember,
    context_team_id: workspace.teamId,
  };
}

/** A file. `origin` serves its content. */
export function fileObject(workspace: Workspace, file: SlackFile, origin: string, isFull = false): Json {
  if (file.needsFileInfo && !isFull) {
    return { id: file.id, mode: 'file_access', file_access: 'check_file_info' };
  }
  if (file.isDeleted) return { id: file.id, mode: 'tombstone' };
  const path = `${origin}/files-pri/${workspace.teamId}-${file.id}`;
  const name = encodeURIComponent(file.name);
  const shares = Object.fromEntries(
    file.shares.map(({ channel, ts, threadTs }) => [
      channel,
      [{ ts, ...(threadTs && { thread_ts: threadTs }) }],
    ]),
  );
  return {
    id: file.id,
    created: file.created,
    timestamp: file.created,
    name: file.name,
    title: file.name,
    mimetype: file.mimetype,
    filetype: file.name.split('.').at(-1),
    user: file.user,
    size: file.bytes.length,
    mode: 'hosted',
    is_external: false,
    is_public: false,
    url_private: file.urlPrivate ?? `${path}/${name}`,
    url_private_download: file.urlPrivate ?? `${path}/download/${name}`,
    permalink: `https://${workspace.domain}.slack.com/files/${file.user}/${file.id}/${name}`,
    ...(file.shares.length > 0 && { shares: { public: shares } }),
    file_access: 'visible',
  };
}

export function botObject({ app, teamId }: Workspace): Json {
  return {
    id: app.botId,
    app_id: app.appId,
    user_id: app.botUser,
    name: app.botName,
    deleted: false,
    team_id: teamId,
  };
}
