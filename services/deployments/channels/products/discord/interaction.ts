import type { ChannelIdentity } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { commandNamed } from '../commands.ts';
import { decisionInText } from '../decisions.ts';
import { inboundEvent, orderOfNumber } from '../inbound-event.ts';
import { idIn, type JsonObject, listIn, nameIn, objectIn, textIn } from '../json-members.ts';
import { accepted, ignored, type ParsedEvent } from '../product.ts';
import { placeOf } from './place.ts';

export const PING = 1;
export const COMMAND = 2;
export const COMPONENT = 3;

/** Reads an interaction (https://discord.com/developers/docs/interactions/receiving-and-responding). */
export function parseInteraction(interaction: JsonObject, { appId }: ChannelIdentity): ParsedEvent {
  const applicationId = interaction.application_id;
  if (appId !== '' && typeof applicationId === 'string' && applicationId !== appId)
    return { outcome: 'refused', reason: 'app_mismatch' };
  const id = idIn(interaction.id);
  const member = objectIn(interaction.member);
  const user = objectIn(interaction.user ?? member.user);
  const channel = idIn(interaction.channel_id) || idIn(objectIn(interaction.channel).id);
  const senderId = idIn(user.id);
  if (interaction.type !== COMMAND && interaction.type !== COMPONENT) return ignored('unknown_event');
  if (id === '' || channel === '' || senderId === '') return ignored('malformed');
  const isClick = interaction.type === COMPONENT;
  const messageId = isClick ? idIn(objectIn(interaction.message).id) : '';
  const event = inboundEvent({
    dedupeKey: `interaction:${id}`,
    orderKey: orderOfNumber(id),
    place: placeOf(interaction, { channel, messageId: '' }),
    title: nameIn(objectIn(interaction.channel).name),
    senderId,
    senderName: nameIn(member.nick) || nameIn(user.global_name) || nameIn(user.username),
    team: idIn(interaction.guild_id),
    mentionsBot: true,
    messageId,
    messageExternalId: messageId,
    botMessageId: messageId,
    answerToken: textIn(interaction.token),
  });
  const data = objectIn(interaction.data);
  if (isClick) {
    const decision = decisionInText(textIn(data.custom_id));
    return decision
      ? accepted({ ...event, kind: 'action', ...decision })
      : ignored('unknown_action', { ...event, kind: 'action' });
  }
  const [option] = listIn(data.options).map(objectIn);
  const command = commandNamed(textIn(data.name)) ?? commandNamed(textIn(option?.name));
  if (command) return accepted({ ...event, kind: 'command', command });
  const text = textIn(option?.value).trim();
  return text === '' ? ignored('unknown_event', event) : accepted({ ...event, text });
}
