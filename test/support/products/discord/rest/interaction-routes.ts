import type { APIMessage } from 'discord.js';
import { unknownMessage, unknownWebhook } from '../errors.ts';
import { answerMembers, type InteractionCallback } from '../interactions.ts';
import { checkMessageBody, type MessageBody, readBody } from '../message-body.ts';
import { createMessage, deleteMessage, EPHEMERAL, editMessage } from '../messages.ts';
import type { StoredInteraction } from '../state.ts';
import type { RestCall, Route } from './call.ts';

function callback({ interactions, request, part }: RestCall): object | undefined {
  const interaction = interactions.find(part('interaction'), part('token'));
  const { json, files } = readBody<InteractionCallback>(request);
  const message = interactions.answer(interaction, json, files);
  if (request.query.get('with_response') !== 'true') return undefined;
  const { id } = interaction;
  return {
    interaction: {
      id,
      type: interaction.message ? 3 : 2,
      ...(message && { response_message_id: message.id }),
    },
    resource: { type: json.type, ...(message && { message }) },
  };
}

/** The token of an interaction works as that of a webhook, after the first answer. */
function findByToken({ state, interactions, part }: RestCall): StoredInteraction {
  const token = part('token');
  const known = [...state.interactions.values()].find((one) => one.token === token);
  if (known?.application.id !== part('application')) throw unknownWebhook();
  const interaction = interactions.find(known.id, token);
  if (interaction.state === 'waiting' || interaction.state === 'failed') throw unknownWebhook();
  return interaction;
}

function findAnswer(call: RestCall, interaction: StoredInteraction): APIMessage {
  const id = call.part('message');
  const message = interaction.channel.messages.get(id === '@original' ? (interaction.originalId ?? '') : id);
  if (!message) throw unknownMessage();
  return message;
}

/** Sends the answer of a deferred interaction, or another message. */
function send(call: RestCall, interaction: StoredInteraction): APIMessage {
  const { json: body, files } = readBody<MessageBody>(call.request);
  checkMessageBody(body);
  const isOriginal = interaction.state === 'deferred';
  const flags = (body.flags ?? 0) | (isOriginal && interaction.isEphemeral ? EPHEMERAL : 0);
  const message = createMessage(call.state, interaction.channel, {
    ...{ author: interaction.application.bot, body: { ...body, flags }, files },
    // Further messages of an interaction are plain ones.
    extra: { ...answerMembers(interaction), ...(!isOriginal && { type: 0 }) },
  });
  if (isOriginal) Object.assign(interaction, { state: 'answered', originalId: message.id });
  return message;
}

function patchAnswer(call: RestCall): APIMessage {
  const interaction = findByToken(call);
  if (call.part('message') === '@original' && interaction.state === 'deferred')
    return send(call, interaction);
  const message = findAnswer(call, interaction);
  const { json: body, files } = readBody<MessageBody>(call.request);
  checkMessageBody(body);
  return editMessage(call.state, interaction.channel, message, { body, files });
}

function deleteAnswer(call: RestCall): undefined {
  const interaction = findByToken(call);
  // The message that shows the deferred state.
  if (call.part('message') === '@original' && interaction.state === 'deferred') {
    interaction.state = 'answered';
    return;
  }
  deleteMessage(call.state, interaction.channel, findAnswer(call, interaction));
}

const ANSWER = '/webhooks/:application/:token/messages/:message';

/** Tokens in the path authorize these requests, and the limits of bots do not apply. */
export const INTERACTION_ROUTES: Route[] = [
  { method: 'POST', path: '/interactions/:interaction/:token/callback', isOpen: true, run: callback },
  {
    method: 'POST',
    path: '/webhooks/:application/:token',
    isOpen: true,
    run: (call) => send(call, findByToken(call)),
  },
  { method: 'GET', path: ANSWER, isOpen: true, run: (call) => findAnswer(call, findByToken(call)) },
  { method: 'PATCH', path: ANSWER, isOpen: true, run: patchAnswer },
  { method: 'DELETE', path: ANSWER, isOpen: true, run: deleteAnswer },
];
