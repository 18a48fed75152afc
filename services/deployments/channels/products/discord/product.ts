import { idIn, type JsonObject, objectIn, parseObject } from '../json-members.ts';
import { ignored, jsonAnswer, type Product } from '../product.ts';
import { COMMAND, PING, parseInteraction } from './interaction.ts';
import { parseMessage } from './message.ts';
import { discordVerifier } from './verify.ts';

const PONG = { type: 1 };
/** The command is answered later. Only its sender sees that it waits, and its answer, which can contain a one-time link. */
const DEFERRED_MESSAGE = { type: 5, data: { flags: 1 << 6 } };
/** The click is answered later, or never. The message stays as it is. */
const DEFERRED_UPDATE = { type: 6 };
const IGNORED: ReadonlyMap<unknown, string> = new Map([
  ['MESSAGE_UPDATE', 'edited'],
  ['MESSAGE_DELETE_BULK', 'deleted'],
]);

/**
 * Events have the form of a dispatch of the gateway, `{t, d}`. Interactions over HTTP are dispatches as well. The custom_id of
 * the buttons is `allow:apr_…` or `deny:apr_…`. Commands have the names of ../commands.ts; any other command, such as /ask, is
 * a message whose text is its first option.
 */
export const discord: Product = {
  maxBodyBytes: 1024 * 1024,
  createVerifier: discordVerifier,

  decode({ body }) {
    const d = parseObject(body);
    return d && { t: 'INTERACTION_CREATE', d };
  },

  isCheck: (raw) => objectIn(objectIn(raw).d).type === PING,

  parse(raw, identity) {
    const { t, d } = objectIn(raw);
    if (t === 'MESSAGE_CREATE') return parseMessage(objectIn(d), identity);
    if (t === 'INTERACTION_CREATE') return parseInteraction(objectIn(d), identity);
    if (t === 'MESSAGE_DELETE')
      return { outcome: 'ignored', reason: 'deleted', deletedMessage: idIn(objectIn(d).id) };
    return ignored(IGNORED.get(t) ?? 'unknown_event');
  },

  answer: (raw) => jsonAnswer(200, answerOf(objectIn(objectIn(raw).d))),
};

function answerOf({ type }: JsonObject) {
  if (type === PING) return PONG;
  return type === COMMAND ? DEFERRED_MESSAGE : DEFERRED_UPDATE;
}
