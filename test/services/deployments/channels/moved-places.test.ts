import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChannelConfig } from '../../../../services/deployments/domain/channels/channel.ts';
import {
  currentPlace,
  originalPlace,
  withMoves,
} from '../../../../services/deployments/domain/channels/moved-places.ts';
import { callback, connectBot, IDENTITIES, storeChannel, TELEGRAM_SECRET } from './fixtures.ts';
import { openWorkSystem, SESSION, type WorkSystem } from './work-fixtures.ts';

const GROUP = -5;
const SUPERGROUP = -1_000_000_000_005;

describe('ids of moved places', () => {
  it('lead to the first and to the last id of a place', () => {
    const places = withMoves(withMoves({}, [{ from: 'a', to: 'b' }]), [{ from: 'b', to: 'c' }]);
    expect(['a', 'b', 'c', 'd'].map((place) => originalPlace(places, place))).toEqual(['a', 'a', 'a', 'd']);
    expect(currentPlace(withMoves({}, [{ from: 'a', to: 'b' }]), 'a')).toBe('b');
    expect(withMoves(places, [{ from: 'c', to: 'c' }])).toEqual(places);
  });
});

describe('a group of Telegram that became a supergroup', () => {
  let system: WorkSystem;
  let channel: string;
  let fence: number;
  let updates = 0;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments; delete from connections');
    channel = await connected({ access: { ...ANYONE } });
  });

  async function connected(config: Partial<ChannelConfig>): Promise<string> {
    const { deploymentId } = await storeChannel(system, 'telegram', { config, identity: null });
    fence = await connectBot(system, deploymentId, IDENTITIES.telegram);
    return deploymentId;
  }

  function update(chat: number, members: object = { text: '/status' }): string {
    const message = {
      ...{ message_id: ++updates, date: 1_700_000_000, from: { id: 11, first_name: 'Ada' } },
      chat: { id: chat, type: chat === GROUP ? 'group' : 'supergroup', title: 'Operations' },
    };
    return JSON.stringify({ update_id: updates, message: { ...message, ...members } });
  }
  const question = (chat: number) =>
    update(chat, {
      text: '@order_desk_bot Is it up?',
      entities: [{ type: 'mention', offset: 0, length: 15 }],
    });

  const accept = (...eventsJson: string[]) =>
    system.worker.client.acceptEvents({
      deploymentId: channel,
      fence,
      eventsJson,
      resumeState: undefined,
      identity: undefined,
    });

  /** A group with a conversation that a worker holds. */
  async function begin() {
    await accept(question(GROUP));
    await system.worker.accept();
    const [conversation] = await system.worker.claimConversations();
    if (!conversation) throw new Error('no conversation was claimed');
    return conversation;
  }

  /** The next message belongs to the conversation and its session, and its answer goes to the supergroup. */
  async function expectToGoOn() {
    const [delivery] = await system.worker.claimDeliveries();
    expect(delivery).toMatchObject({ conversation: String(GROUP), sessionId: SESSION, accessRefusal: '' });
    await system.worker.finish(delivery!);
    expect(await system.conversations(channel)).toMatchObject([{ conversation: String(GROUP) }]);
    system.clock.advance(31_000);
    expect(await system.worker.claimConversations()).toMatchObject([
      { conversation: String(GROUP), place: { place: String(SUPERGROUP), isGroup: true } },
    ]);
  }

  it('keeps its conversation, also for messages of the same batch', async () => {
    await begin();
    await accept(
      update(GROUP, { migrate_to_chat_id: SUPERGROUP }),
      update(SUPERGROUP, { migrate_from_chat_id: GROUP }),
      question(SUPERGROUP),
    );
    await expectToGoOn();
  });

  it('keeps its conversation when a webhook tells the new id', async () => {
    await begin();
    const post = (json: string) =>
      system.edge.receiveCallback(
        callback(channel, json, [['x-telegram-bot-api-secret-token', TELEGRAM_SECRET]]),
      );
    await post(update(SUPERGROUP, { migrate_from_chat_id: GROUP }));
    await post(question(SUPERGROUP));
    await expectToGoOn();
  });

  it('keeps its conversation when the product tells the new id in the answer to a post', async () => {
    const conversation = await begin();
    const movedTo = { place: String(SUPERGROUP), thread: '', isGroup: true };
    await system.worker.note({ ...conversation, movedTo }, { state: 'posted' });
    await system.worker.note({ ...conversation, movedTo }, { state: 'posted' });
    await accept(question(SUPERGROUP));
    await expectToGoOn();
  });

  it('does not go back when an event from before arrives late', async () => {
    await begin();
    await accept(update(GROUP, { migrate_to_chat_id: SUPERGROUP }), question(GROUP));
    await expectToGoOn();
  });

  it('stays in a list of places', async () => {
    await system.sql('delete from deployments; delete from connections');
    channel = await connected({ access: { ...ANYONE, mode: 'list', places: [String(GROUP)] } });
    await begin();
    await accept(update(GROUP, { migrate_to_chat_id: SUPERGROUP }), question(SUPERGROUP));
    await expectToGoOn();
  });
});

const ANYONE = { mode: 'anyone', people: [], places: [], allowExternal: false } as const;
