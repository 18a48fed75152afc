import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withPrefix } from '../../../../lib/ids.ts';
import type {
  ConversationWork,
  InboundEvent,
} from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { Provider } from '../../../../services/deployments/domain/channels/channel.ts';
import { openWorkSystem, type WorkSystem } from './work-fixtures.ts';

const GROUP = { place: 'C1', thread: '', isGroup: true };

describe('replies of answers', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
  });

  /** A conversation whose only message became a turn with the characters of its delivery, as `sessions` creates it. */
  async function begin(provider: Exclude<Provider, 'slack'>, changes: Partial<InboundEvent> = {}) {
    const access = { mode: 'anyone', people: [], places: [], allowExternal: false } as const;
    const channel = await system.createChannel({ access }, provider);
    const deliveryId = await system.receive(channel, { place: GROUP, messageId: 'M7', ...changes });
    const turnId = withPrefix('trn', deliveryId);
    await system.worker.accept({ turnId });
    const [conversation] = await system.worker.claimConversations();
    if (!conversation) throw new Error('no conversation was claimed');
    return { conversation, turnId };
  }

  const replyTo = async (conversation: ConversationWork, turnId: string, more: object = {}) => {
    const { posts } = await system.worker.note(conversation, { turnId, ...more });
    const { replyTo, replyToPlace } = posts[0] ?? {};
    expect(replyToPlace).toBe(replyTo === '' ? '' : 'C1');
    return replyTo;
  };

  it.each(['telegram', 'discord'] as const)('name the message of a group in %s', async (provider) => {
    const { conversation, turnId } = await begin(provider);
    expect(await replyTo(conversation, turnId)).toBe('M7');
    expect(await replyTo(conversation, turnId, { kind: 'approval', key: 'apr_1' })).toBe('M7');
    expect(await replyTo(conversation, turnId, { state: 'posted', externalId: 'M8' })).toBe('');
    expect(await replyTo(conversation, 'trn_01M7XYC91CC5TE06JQWDWRTJVA')).toBe('');
  });

  it('name none in direct messages and in products without replies', async () => {
    const direct = await begin('telegram', { place: { ...GROUP, isGroup: false } });
    expect(await replyTo(direct.conversation, direct.turnId)).toBe('');
    const other = await begin('http');
    expect(await replyTo(other.conversation, other.turnId)).toBe('');
  });

  it('name none when the event was erased', async () => {
    const { conversation, turnId } = await begin('telegram');
    await system.sql('update deliveries set payload = null');
    expect(await replyTo(conversation, turnId)).toBe('');
  });
});
