import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../support/wait.ts';
import { connectBot, IDENTITIES, storeChannel } from './fixtures.ts';
import { openWorkSystem, SESSION, type WorkSystem } from './work-fixtures.ts';

const CHANNEL = '500000000000000001';
const ROOT = '700000000000000001';
const ANSWER = '700000000000000002';
const BOT = { id: IDENTITIES.discord.botId, bot: true };
const REASON = 'The bot lacks the permission Create Public Threads.';

describe('a conversation of Discord without a thread', () => {
  let system: WorkSystem;
  let channel: string;
  let fence: number;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments; delete from connections');
    const access = { mode: 'anyone', people: [], places: [], allowExternal: false } as const;
    const { deploymentId } = await storeChannel(system, 'discord', { config: { access }, identity: null });
    channel = deploymentId;
    fence = await connectBot(system, deploymentId, IDENTITIES.discord);
  });

  const dispatch = (t: string, d: object) => JSON.stringify({ t, d });
  const accept = (...eventsJson: string[]) =>
    system.worker.client.acceptEvents({
      deploymentId: channel,
      fence,
      eventsJson,
      resumeState: undefined,
      identity: undefined,
    });
  const message = (id: string, more: object) =>
    dispatch('MESSAGE_CREATE', {
      ...{ id, channel_id: CHANNEL, guild_id: '1', channel_type: 0, type: 0, content: 'Is it up?' },
      ...{ author: { id: '11', username: 'ada' }, mentions: [], attachments: [], ...more },
    });
  const mention = (id: string) => message(id, { content: `<@${BOT.id}> Is it up?`, mentions: [BOT] });
  const replyTo = (original: string) =>
    message('700000000000000009', { type: 19, referenced_message: { id: original, author: BOT } });
  const click = (id: string) =>
    dispatch('INTERACTION_CREATE', {
      ...{ id: '700000000000000010', type: 3, token: 't', channel_id: CHANNEL, guild_id: '1' },
      ...{ channel: { id: CHANNEL, type: 0 }, member: { user: { id: '11' } }, message: { id } },
      data: { custom_id: 'deny:apr_01M7XYC91CC5TE06JQWDWRTJVA' },
    });

  /** A conversation whose answer is in the channel itself if `movedReason` is not empty, and in its thread otherwise. */
  async function begin(movedReason = REASON) {
    await accept(mention(ROOT));
    await system.worker.accept();
    const [conversation] = await system.worker.claimConversations();
    expect(conversation).toMatchObject({ conversation: ROOT, place: { place: CHANNEL, thread: ROOT } });
    const movedTo = { place: CHANNEL, thread: '', isGroup: true };
    const moved = movedReason === '' ? {} : { movedTo, movedReason };
    await system.worker.note({ ...conversation!, ...moved }, { state: 'posted', externalId: ANSWER });
  }

  const claimed = async () => {
    const [delivery] = await system.worker.claimDeliveries();
    return delivery;
  };

  it('shows the reason, and keeps its place', async () => {
    await begin();
    expect(await system.conversations(channel)).toMatchObject([{ conversation: ROOT, reason: REASON }]);
    system.clock.advance(31_000);
    expect(await system.worker.claimConversations()).toMatchObject([
      { conversation: ROOT, place: { place: CHANNEL, thread: '', isGroup: true } },
    ]);
  });

  it('goes on with replies to its posts, and with clicks on their buttons', async () => {
    await begin();
    await accept(replyTo(ANSWER));
    const reply = await claimed();
    expect(reply).toMatchObject({ conversation: ROOT, sessionId: SESSION });
    await system.worker.finish(reply!);
    await accept(click(ANSWER));
    const action = await claimed();
    expect(action).toMatchObject({ conversation: ROOT, sessionId: SESSION });
    await system.worker.finish(action!, { sessionId: '', turnId: '' });
    system.clock.advance(31_000);
    expect(await system.worker.claimConversations()).toMatchObject([
      { conversation: ROOT, place: { place: CHANNEL, thread: '' } },
    ]);
  });

  it('leaves other mentions and replies to other conversations', async () => {
    await begin();
    await accept(mention('700000000000000008'), replyTo('700000000000000007'));
    const claims = await system.worker.claimDeliveries();
    expect(claims.map(({ conversation }) => conversation)).toEqual([
      '700000000000000008',
      '700000000000000009',
    ]);
  });

  it('does not take replies to the posts of a conversation with a thread', async () => {
    await begin('');
    await accept(replyTo(ANSWER));
    expect(await claimed()).toMatchObject({ conversation: '700000000000000009', sessionId: '' });
  });

  it('lists no deletion of its posts, and lists that of other messages', async () => {
    await begin();
    const deletion = (id: string) => dispatch('MESSAGE_DELETE', { id, channel_id: CHANNEL, guild_id: '1' });
    await accept(deletion(ANSWER), deletion('700000000000000007'), deletion(ANSWER));
    await system.stop();
    const rows = await until('the deletion is listed', async () => {
      const found = await system.sql<{ count: number }>(
        `select count from deliveries where deployment_id = $1 and result = 'ignored' and reason = 'deleted'`,
        [channel],
      );
      return found.length > 0 && found;
    });
    expect(rows).toEqual([{ count: 1 }]);
    system = await openWorkSystem();
  });
});
