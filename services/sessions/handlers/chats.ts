import { type Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { ChatRecord, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ChatKey, RecordedChat } from '../store/chat-rows.ts';
import type { SessionsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'recordChat' | 'findChat' | 'continueChat' | 'forgetChat'
>;

const KEY_BYTES = 32;
const MAX_KEYS = 1_000;
/** An Idempotency-Key has at most as many. */
const MAX_CLAIM_CHARACTERS = 255;

/** Handlers that recognise the chats of clients that name no session. */
export function chatHandlers({ access, chats, clock }: SessionsHandlerContext): Methods {
  return {
    async recordChat({ record }, call) {
      const { key, sessionId, turnId } = record ?? { key: Buffer.alloc(0), sessionId: '', turnId: '' };
      requireKey(key, '/record/key');
      if (!isId('trn', turnId)) throw refuseField('/record/turn_id', 'must be a trn_… id');
      const chat = { ...keyOf(key, callerOf(call).userId), sessionId, turnId, recordedAt: clock.now() };
      await access.asOwner(sessionId, call, () => chats.record(chat, call));
      return {};
    },

    async findChat({ key }, call) {
      requireKey(key, '/key');
      const found = await chats.find(keyOf(key, callerOf(call).userId), databaseOptionsOf(call));
      if (!found) throw unknownChat();
      return { record: recordOf(found), agentId: found.agentId };
    },

    async continueChat({ keys, claim }, call) {
      if (keys.length > MAX_KEYS) throw refuseField('/keys', `must have at most ${MAX_KEYS} items`);
      for (const [index, key] of keys.entries()) requireKey(key, `/keys/${index}`);
      if (claim.length < 1 || claim.length > MAX_CLAIM_CHARACTERS)
        throw refuseField('/claim', `must have 1–${MAX_CLAIM_CHARACTERS} characters`);
      const found = await chats.continue({ ownerId: callerOf(call).userId, keys, claim }, call);
      if (!found) return { record: undefined, agentId: '' };
      const { sessionId, turnId, agentId } = found;
      const answer = { record: recordOf(found), agentId };
      if (found.isClaimed) return answer;
      const forkAfterSeq = await chats.endOfTurn(sessionId, turnId, databaseOptionsOf(call));
      // A turn that has not ended cannot be forked. The message waits behind it.
      return forkAfterSeq === undefined ? answer : { ...answer, forkAfterSeq };
    },

    async forgetChat({ key }, call) {
      requireKey(key, '/key');
      if (!(await chats.forget(keyOf(key, callerOf(call).userId), call))) throw unknownChat();
      return {};
    },
  };
}

const keyOf = (key: Buffer, ownerId: string): ChatKey => ({ ownerId, key });

function requireKey(key: Buffer, pointer: string): void {
  if (key.length !== KEY_BYTES) throw refuseField(pointer, `must have ${KEY_BYTES} bytes`);
}

function recordOf({ key, sessionId, turnId }: RecordedChat): ChatRecord {
  return { key, sessionId, turnId };
}

function unknownChat(): Refusal {
  return refuse('SESSION_NOT_FOUND', 'No session is recorded for this key.');
}
