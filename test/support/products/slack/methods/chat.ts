import { SlackError } from '../error.ts';
import { type Json, messageObject } from '../objects.ts';
import type { SlackChannel, SlackMessage } from '../workspace.ts';
import { contentOf, metadataOf } from './content.ts';
import { type CallContext, channelOf, type Methods, requireMember } from './method.ts';

const TIMESTAMP = /^\d{10}\.\d{6}$/;

/** The message that a call names and the bot may change. Throws `message_not_found` or `refusal`. */
function ownMessage(context: CallContext, channel: SlackChannel, refusal: string): SlackMessage {
  const { workspace, args } = context;
  const message = workspace.message(channel, args.text('ts'));
  if (!message || message.isTombstone) throw new SlackError('message_not_found');
  if (message.user !== workspace.app.botUser) throw new SlackError(refusal);
  return message;
}

/**
 * The root of the thread that a call names. A reply's timestamp stands for its root. Slack posts to the channel, without an
 * error, when the message does not exist (any more).
 */
export function threadOf({ workspace, args }: CallContext, channel: SlackChannel): string | undefined {
  const ts = args.text('thread_ts');
  if (!ts) return undefined;
  const message = workspace.message(channel, ts);
  return message && (message.threadTs ?? message.ts);
}

/** Slack posts an answer to a root that was deleted without replies into the channel, without an error. */
function isRemovedRoot({ workspace, args }: CallContext, channel: SlackChannel): boolean {
  const ts = args.text('thread_ts') ?? '';
  return TIMESTAMP.test(ts) && !workspace.message(channel, ts);
}

function post(context: CallContext): Json {
  const { workspace, origin } = context;
  const channel = channelOf(context);
  requireMember(workspace, channel);
  const threadTs = isRemovedRoot(context, channel) ? undefined : threadOf(context, channel);
  const metadata = metadataOf(context);
  const content = contentOf(context, 'post');
  const message = workspace.post(channel, {
    text: '',
    ...content,
    user: workspace.app.botUser,
    ...(threadTs && { threadTs }),
    ...(metadata && { metadata }),
  });
  const { ts } = message;
  return { channel: channel.id, ts, message: messageObject(workspace, channel, message, origin) };
}

function update(context: CallContext): Json {
  const { workspace, origin } = context;
  const channel = channelOf(context);
  const message = ownMessage(context, channel, 'cant_update_message');
  const metadata = metadataOf(context);
  const { text, blocks, markdown, linksNames } = contentOf(context, 'update');
  const change: Partial<SlackMessage> = { linksNames };
  if (text !== undefined) change.text = text;
  // A text without blocks removes the blocks.
  if (blocks || text !== undefined) change.blocks = blocks;
  change.markdown = markdown;
  if (metadata !== undefined) change.metadata = metadata ?? undefined;
  // A change of blocks alone does not show the message as edited.
  if (text !== undefined && !context.args.text('blocks'))
    change.edited = { user: workspace.app.botUser, ts: workspace.ids.ts() };
  workspace.change(channel, message, change);
  const body = messageObject(workspace, channel, message, origin);
  return { channel: channel.id, ts: message.ts, text: message.text, message: body };
}

function remove(context: CallContext): Json {
  const channel = channelOf(context);
  const message = ownMessage(context, channel, 'cant_delete_message');
  context.workspace.remove(channel, message);
  return { channel: channel.id, ts: message.ts };
}

function postEphemeral(context: CallContext): Json {
  const { workspace, args } = context;
  const channel = channelOf(context);
  requireMember(workspace, channel);
  const user = args.text('user') ?? '';
  if (!channel.members.has(user)) throw new SlackError('user_not_in_channel');
  const threadTs = threadOf(context, channel);
  const ts = workspace.ids.ts();
  const content = { text: '', ...contentOf(context, 'post'), ...(threadTs && { threadTs }) };
  channel.ephemerals.push({ user, message: { ...content, ts, user: workspace.app.botUser, files: [] } });
  return { message_ts: ts };
}

const scope = () => 'chat:write';

export const chatMethods: Methods = {
  'chat.postMessage': { token: 'bot', scope, run: post },
  'chat.update': { token: 'bot', scope, run: update },
  'chat.delete': { token: 'bot', scope, run: remove },
  'chat.postEphemeral': { token: 'bot', scope, run: postEphemeral },
};
