import type { APIMessage } from 'discord.js';
import { cannotSendToUser, DiscordError, foreignMessage } from '../errors.ts';
import { checkMessageBody, type MessageBody, readBody } from '../message-body.ts';
import { createMessage, deleteMessage, editMessage } from '../messages.ts';
import { channelObject } from '../objects.ts';
import { createStoredChannel, DIRECT, isRestricted, type StoredChannel } from '../state.ts';
import { createThread } from '../threads.ts';
import { findChannel, findMessage, isEphemeral, type RestCall, type Route } from './call.ts';

/** The product compares nonces of “the past few minutes”. */
const NONCE_MS = 5 * 60_000;
const DEFAULT_PAGE = 50;
const MAX_PAGE = 100;

function postMessage(call: RestCall): APIMessage {
  const { state, application, request } = call;
  const channel = findChannel(call, 'send');
  if (channel.isClosed) throw cannotSendToUser();
  const { json: body, files } = readBody<MessageBody>(request);
  if (files.length > 0) findChannel(call, 'files');
  checkMessageBody(body);
  if (body.message_reference && isRestricted(application, channel, 'history'))
    throw new DiscordError(400, 160002, 'Cannot reply without permission to read message history');
  const key = `${application.id} ${channel.id} ${body.nonce}`;
  const now = state.now().getTime();
  const known = state.nonces.get(key);
  // The product creates no second message for a deleted one, and answers Unknown Message.
  if (body.enforce_nonce && body.nonce !== undefined && known && now - known.ms < NONCE_MS)
    return findMessage(channel, known.message.id);
  // A message unarchives its thread.
  channel.isArchived = false;
  const message = createMessage(state, channel, { author: application.bot, body, files });
  if (body.nonce !== undefined) state.nonces.set(key, { message, ms: now });
  return message;
}

function patchMessage(call: RestCall): APIMessage {
  const channel = findChannel(call);
  const message = findMessage(channel, call.part('message'));
  const { json: body, files } = readBody<MessageBody>(call.request);
  checkMessageBody(body);
  if (message.author.id !== call.application.bot.id) throw foreignMessage();
  if (channel.isArchived) throw new DiscordError(400, 50083, 'Thread is archived');
  return editMessage(call.state, channel, message, { body, files });
}

/** Newest first. */
function listMessages(call: RestCall): APIMessage[] {
  const { query } = call.request;
  const limit = Math.min(Number(query.get('limit') ?? DEFAULT_PAGE), MAX_PAGE);
  const [before, after] = [query.get('before'), query.get('after')].map((id) => id && BigInt(id));
  const all = [...findChannel(call).messages.values()].filter((message) => !isEphemeral(message));
  const chosen = all.filter(({ id }) => (!before || BigInt(id) < before) && (!after || BigInt(id) > after));
  return (after ? chosen.slice(0, limit) : chosen.slice(-limit)).reverse();
}

/** A bot that may write in a thread can unarchive it. */
function patchChannel(call: RestCall): object {
  const channel = findChannel(call, 'send');
  const { json } = readBody<{ archived?: boolean }>(call.request);
  if (json.archived !== undefined) channel.isArchived = json.archived;
  return channelObject(channel);
}

function removeMessage(call: RestCall): undefined {
  const channel = findChannel(call);
  const message = findMessage(channel, call.part('message'));
  if (message.author.id !== call.application.bot.id) throw foreignMessage();
  deleteMessage(call.state, channel, message);
}

function startThread(call: RestCall): object {
  const channel = findChannel(call, 'threads');
  const id = call.part('message');
  const { json } = readBody<{ name?: string }>(call.request);
  const message = id === '' ? undefined : findMessage(channel, id);
  const owner = call.application.bot;
  return channelObject(createThread(call.state, channel, { name: json.name ?? 'thread', owner, message }));
}

/** Returns the direct message channel with a user, which exists once. */
function openDirectChannel({ state, application, request }: RestCall): object {
  const { json } = readBody<{ recipient_id?: string }>(request);
  const user = state.users.get(json.recipient_id ?? '');
  if (!user || user.bot) throw new DiscordError(400, 50033, 'Invalid Recipient(s)');
  const isSame = ({ recipient }: StoredChannel) =>
    recipient?.user === user && recipient.application === application;
  const known = [...state.channels.values()].find(isSame);
  const channel =
    known ??
    createStoredChannel({ id: state.nextId(), type: DIRECT, name: null, recipient: { user, application } });
  state.channels.set(channel.id, channel);
  return channelObject(channel);
}

export const CHANNEL_ROUTES: Route[] = [
  { method: 'GET', path: '/channels/:channel', run: (call) => channelObject(findChannel(call)) },
  { method: 'PATCH', path: '/channels/:channel', run: patchChannel },
  { method: 'POST', path: '/channels/:channel/messages', run: postMessage },
  { method: 'GET', path: '/channels/:channel/messages', run: listMessages },
  {
    method: 'GET',
    path: '/channels/:channel/messages/:message',
    run: (call) => findMessage(findChannel(call), call.part('message')),
  },
  { method: 'PATCH', path: '/channels/:channel/messages/:message', run: patchMessage },
  { method: 'DELETE', path: '/channels/:channel/messages/:message', run: removeMessage },
  { method: 'POST', path: '/channels/:channel/messages/:message/threads', run: startThread },
  { method: 'POST', path: '/channels/:channel/threads', run: startThread },
  { method: 'POST', path: '/channels/:channel/typing', run: (call) => void findChannel(call, 'send') },
  { method: 'POST', path: '/users/@me/channels', run: openDirectChannel },
];
