import { SlackError } from '../error.ts';
import { channelObject, type Json, messageObject } from '../objects.ts';
import { type CallContext, channelOf, kindScope, type Methods } from './method.ts';

const DEFAULT_LIMIT = 1_000;

function replies(context: CallContext): Json {
  const { workspace, args, origin } = context;
  const channel = channelOf(context);
  if (!channel.members.has(workspace.app.botUser)) throw new SlackError('not_in_channel');
  const root = workspace.message(channel, args.text('ts'));
  if (!root) throw new SlackError('thread_not_found');
  const oldest = args.text('oldest') ?? '0';
  const latest = args.text('latest') ?? '9';
  const isInclusive = args.flag('inclusive');
  const isInRange = (ts: string) =>
    (ts > oldest && ts < latest) || (isInclusive && (ts === oldest || ts === latest));
  // The timestamp of a reply returns that reply alone.
  const all = workspace.thread(channel, root.ts).filter(({ ts }) => ts === root.ts || isInRange(ts));
  const start = decodeCursor(args.text('cursor'));
  const from = start === undefined ? 0 : all.findIndex(({ ts }) => ts === start);
  if (from < 0) throw new SlackError('invalid_cursor');
  const limit = Math.min(args.number('limit', DEFAULT_LIMIT), DEFAULT_LIMIT);
  const page = all.slice(from, from + limit);
  const next = all[from + limit];
  const metadata = args.flag('include_all_metadata') ? 'all' : 'declared';
  return {
    messages: page.map((message) => messageObject(workspace, channel, message, origin, metadata)),
    has_more: next !== undefined,
    ...(next && { response_metadata: { next_cursor: Buffer.from(`next_ts:${next.ts}`).toString('base64') } }),
  };
}

/** Messages outside of threads and roots of threads, the newest first. */
function history(context: CallContext): Json {
  const { workspace, args, origin } = context;
  const channel = channelOf(context);
  if (!channel.members.has(workspace.app.botUser)) throw new SlackError('not_in_channel');
  const oldest = args.text('oldest') ?? '0';
  const all = channel.messages
    .filter(({ threadTs, ts }) => threadTs === undefined && ts > oldest)
    .toReversed();
  const start = decodeCursor(args.text('cursor'));
  const from = start === undefined ? 0 : all.findIndex(({ ts }) => ts === start);
  if (from < 0) throw new SlackError('invalid_cursor');
  const limit = Math.min(args.number('limit', 100), DEFAULT_LIMIT - 1);
  const next = all[from + limit];
  const metadata = args.flag('include_all_metadata') ? 'all' : 'declared';
  return {
    messages: all
      .slice(from, from + limit)
      .map((message) => messageObject(workspace, channel, message, origin, metadata)),
    has_more: next !== undefined,
    ...(next && { response_metadata: { next_cursor: Buffer.from(`next_ts:${next.ts}`).toString('base64') } }),
  };
}

function decodeCursor(cursor: string | undefined): string | undefined {
  return cursor ? (/^next_ts:(.+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1] ?? '') : undefined;
}

function open({ workspace, args }: CallContext): Json {
  const ids = (args.text('users') ?? '').split(',').filter((id) => id !== '');
  const [id] = ids;
  if (id === undefined) throw new SlackError('users_list_not_supplied');
  // Group conversations are not part of this server.
  if (ids.length > 1) throw new SlackError('too_many_users');
  const user = workspace.users.get(id);
  if (!user) throw new SlackError('user_not_found');
  if (user.isBot) throw new SlackError('cannot_dm_bot');
  const channel = workspace.directMessages(user.id);
  return { no_op: true, already_open: true, channel: { id: channel.id } };
}

export const conversationMethods: Methods = {
  'conversations.replies': { token: 'bot', scope: kindScope('history'), run: replies },
  'conversations.history': { token: 'bot', scope: kindScope('history'), run: history },
  'conversations.info': {
    token: 'bot',
    scope: kindScope('read'),
    run: (context) => ({ channel: channelObject(context.workspace, channelOf(context)) }),
  },
  'conversations.open': { token: 'bot', scope: () => 'im:write', run: open },
};
