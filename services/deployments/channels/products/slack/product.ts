import { objectIn, textIn } from '../json-members.ts';
import { EMPTY_OK, ignored, type Product } from '../product.ts';
import { decodeCallback, envelopeOf, type SlackEnvelope } from './envelope.ts';
import { findMismatch } from './identity.ts';
import { parseCommand, parseInteraction } from './interaction.ts';
import { parseMessage } from './message.ts';
import { slackVerifier } from './verify.ts';

/**
 * Events have the form of Socket Mode (see SlackEnvelope). The value of the buttons is the approval, and their action_id is
 * `allow` or `deny`.
 */
export const slack: Product = {
  maxBodyBytes: 1024 * 1024,
  createVerifier: slackVerifier,
  decode: decodeCallback,

  isCheck(raw) {
    const envelope = envelopeOf(raw);
    const { type, payload } = envelope;
    return isChallenge(envelope) || (type === 'slash_commands' && payload.ssl_check === '1');
  },

  parse(raw, identity) {
    const { type, payload } = envelopeOf(raw);
    const team = type === 'interactive' ? objectIn(payload.team).id : payload.team_id;
    const mismatch = findMismatch(payload, team, identity);
    if (mismatch) return mismatch;
    if (type === 'interactive') return parseInteraction(payload, identity);
    if (type === 'slash_commands') return parseCommand(payload, identity);
    if (type !== 'events_api' || payload.type !== 'event_callback') return ignored('unknown_event');
    const event = objectIn(payload.event);
    return event.type === 'message' || event.type === 'app_mention'
      ? parseMessage(payload, event, identity)
      : ignored('unknown_event');
  },

  answer(raw) {
    const envelope = envelopeOf(raw);
    if (!isChallenge(envelope)) return EMPTY_OK;
    const { challenge } = envelope.payload;
    return { status: 200, contentType: 'text/plain; charset=utf-8', body: textIn(challenge) };
  },
};

function isChallenge({ type, payload }: SlackEnvelope): boolean {
  return type === 'events_api' && payload.type === 'url_verification';
}
