import type { ChannelIdentity } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { commandNamed } from '../commands.ts';
import { decisionOf } from '../decisions.ts';
import { inboundEvent } from '../inbound-event.ts';
import { idIn, type JsonObject, listIn, nameIn, objectIn, textIn } from '../json-members.ts';
import { accepted, ignored, type ParsedEvent } from '../product.ts';

/** Reads a click on a button: its value is the approval, and its action_id is the decision. */
export function parseInteraction(payload: JsonObject, identity: ChannelIdentity): ParsedEvent {
  if (payload.type !== 'block_actions') return ignored('unknown_event');
  const container = objectIn(payload.container);
  const user = objectIn(payload.user);
  const [action] = listIn(payload.actions).map(objectIn);
  const place = idIn(objectIn(payload.channel).id) || idIn(container.channel_id);
  const ts = idIn(container.message_ts);
  const thread = idIn(container.thread_ts) || idIn(objectIn(payload.message).thread_ts) || ts;
  const trigger = idIn(payload.trigger_id);
  const senderId = idIn(user.id);
  if (!action || place === '' || senderId === '' || trigger === '') return ignored('malformed');
  const isDirect = place.startsWith('D');
  const team = idIn(user.team_id);
  const decision = decisionOf(textIn(action.action_id), textIn(action.value));
  const event = inboundEvent({
    dedupeKey: `action:${trigger}`,
    kind: 'action',
    place: { place, thread: isDirect ? '' : thread, isGroup: !isDirect },
    senderId,
    senderName: nameIn(user.name) || nameIn(user.username),
    team,
    isExternal: isExternal(team, identity),
    approvalId: decision?.approvalId ?? '',
    decision: decision?.decision ?? '',
    messageExternalId: ts,
    answerToken: textIn(payload.response_url),
  });
  return decision ? accepted(event) : ignored('unknown_action', event);
}

/** Reads a slash command: `/agent new`. Without a known word, it is `help`. */
export function parseCommand(form: JsonObject, identity: ChannelIdentity): ParsedEvent {
  const place = idIn(form.channel_id);
  const senderId = idIn(form.user_id);
  const trigger = idIn(form.trigger_id);
  if (place === '' || senderId === '' || trigger === '') return ignored('malformed');
  const [word = ''] = textIn(form.text).trim().split(/\s+/, 1);
  const team = idIn(form.team_id);
  const isDirect = place.startsWith('D');
  return accepted(
    inboundEvent({
      dedupeKey: `command:${trigger}`,
      kind: 'command',
      // Slash commands do not work in threads.
      place: { place, thread: '', isGroup: !isDirect },
      title: isDirect ? '' : nameIn(form.channel_name),
      senderId,
      senderName: nameIn(form.user_name),
      team,
      isExternal: isExternal(team, identity),
      mentionsBot: true,
      command: commandNamed(word) ?? 'help',
      answerToken: textIn(form.response_url),
    }),
  );
}

function isExternal(team: string, { teamId }: ChannelIdentity): boolean {
  return team !== '' && teamId !== '' && team !== teamId;
}
