import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../chaos/random.ts';
import { dataOfCreated } from '../support/api.ts';
import { createChannelClient, type PulledPost } from '../support/channel-client.ts';
import { type ChannelTurn, channelTurns } from '../support/channel-turns.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { freePort } from '../support/port.ts';
import { killUntil } from '../support/random-kills.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';
import { type ChatProduct, type ChatProducts, startChatProducts } from './channel-kills/chats.ts';

const SEED = Number(process.env.SERVICE_TEST_SEED ?? 22);
/** The messages are sent, and processes are killed, during this time. */
const KILLING_MS = 9_000;
/** The leases of a killed worker end after 30 seconds, and then the other worker does its work. Usually all is done by then. */
const DRAIN_MS = 240_000;
/** A busy machine can need more than the usual minute. */
const TIMEOUT_MS = KILLING_MS + DRAIN_MS + 40_000;
const VICTIMS = [
  ...(['channels', 'channels 2', 'channels', 'channels 2'] as const),
  ...(['deployments', 'deployments 2', 'sessions', 'runner', 'edge'] as const),
] as const;
const PULLED = { conversations: 10, messages: 12 };
/** In each product. */
const CHATS = { count: 3, messages: 4 };
/** A callback whose answer was lost is sent again. */
const REPEATED = 0.3;

interface Post {
  post_id: string;
  conversation: string;
  turn_id: string | null;
  kind: string;
  state: string;
  external_id: string | null;
  maybe_duplicate: boolean;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe(`channels of two channel workers that are killed, seed ${SEED}`, () => {
  let products: ChatProducts;
  let fleet: Fleet;
  let deployments: string;
  beforeAll(async () => {
    products = await startChatProducts(SEED, CHATS.count);
    const settings = {
      SERVICE_CHANNELS_API_URLS: products.apiUrls,
      SERVICE_TURN_LEASE_SECONDS: '2',
    };
    fleet = await startFleet(settings, { secondInstances: ['deployments'] });
    fleet.add('channels 2', 'channels', { SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}` });
    await fleet.run('channels 2');
    const steps = [{ text: 'The answer to {{input}} comes in pieces.', chunk_chars: 5, delay_ms: 20 }];
    const agent = await fleet.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    deployments = `/admin/agents/${agent}/deployments`;
  });
  afterAll(async () => {
    const broken = fleet ? await brokenInvariants(fleet.databaseUrl) : [];
    await fleet?.[Symbol.asyncDispose]();
    await products?.[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  async function createChannel(members: object) {
    const access = { mode: 'anyone' };
    const { config, ...others } = { config: {}, ...members };
    return dataOfCreated(
      await fleet.api.post(deployments, {
        ...{ type: 'channel', name: 'Chat', config: { ...config, access } },
        ...others,
      }),
    );
  }

  const rows = <Row extends object>(sql: string) =>
    rowsOn<Row & Record<string, unknown>>(fleet.databaseUrl, sql);

  async function drained(channel: string): Promise<void> {
    await until(
      'every message is handled and told',
      async () => {
        const [open] = await rows<{ count: number }>(`
          select (select count(*) from deployments.deliveries
              where deployment_id = '${channel}' and result = 'pending')::integer
            + (select count(*) from deployments.conversations where deployment_id = '${channel}' and is_engaged)::integer
            + (select count(*) from deployments.posts
              where deployment_id = '${channel}' and state in ('wanted', 'posting'))::integer
            + (select count(*) from sessions.turns where finished_at is null)::integer as count`);
        return open?.count === 0;
      },
      DRAIN_MS,
    );
  }

  /** Checks that the messages of each conversation are one turn each, in one session, and in order unless a product has none. */
  function expectOneTurnEach(
    turns: readonly ChannelTurn[],
    sent: readonly (readonly string[])[],
    keepsOrder = true,
  ): void {
    const sessions = Map.groupBy(turns, ({ sessionId }) => sessionId);
    const told = Array.from(sessions.values(), (some) => {
      const texts = some.map(({ messages }) => messages);
      return keepsOrder ? texts : texts.sort();
    });
    const expected = sent.map((texts) => texts.map((text) => [text]));
    const sorted = (lists: string[][][]) =>
      lists.sort((one, other) => (String(one) < String(other) ? -1 : 1));
    expect(sorted(told)).toEqual(sorted(expected));
    for (const turn of turns) expect(turn).toMatchObject({ end: 'turn.completed' });
  }

  it(
    'of the provider http: each message is one turn in order, and each pulled post is its answer',
    async () => {
      const created = await createChannel({ provider: 'http' });
      const channel = String(created.deployment_id);
      const client = createChannelClient(fleet.api.origin, channel, String(created.shared_secret));
      const random = seeded(SEED + 1);
      const end = Date.now() + KILLING_MS;
      const conversations = Array.from({ length: PULLED.conversations }, (_, index) => `room ${index}`);

      async function isAccepted(conversation: string, id: string, text: string): Promise<boolean> {
        const response = await client.sendMessage(conversation, id, text).catch(() => undefined);
        if (response && response.status < 500) expect(response.status).toBe(202);
        return response?.status === 202;
      }
      async function write(conversation: string): Promise<string[]> {
        const texts = Array.from(
          { length: PULLED.messages },
          (_, index) => `${conversation}, message ${index}`,
        );
        for (const text of texts) {
          await until('the message is accepted', () => isAccepted(conversation, text, text));
          if (random() < REPEATED) void isAccepted(conversation, text, text).catch(() => {});
          await pause(random() * ((2 * KILLING_MS) / PULLED.messages));
        }
        return texts;
      }
      const [kills, ...sent] = await Promise.all([
        killUntil(end, fleet, VICTIMS, seeded(SEED)),
        ...conversations.map(write),
      ]);
      expect(kills).toBeGreaterThan(2);
      await fleet.ready();
      await drained(channel);

      const turns = await channelTurns(fleet.databaseUrl, channel);
      expectOneTurnEach(turns, sent);
      const posts = new Map<string, PulledPost>();
      for (let after = '', size = 1; size > 0; ) {
        const page = await client.pull(after);
        for (const post of page.posts) posts.set(post.post_id, post);
        after = page.next_after;
        size = page.posts.length;
      }
      const shown = [...posts.values()];
      expect(shown.map(({ kind }) => kind)).not.toContain('notice');
      const bySession = (one: { sessionId: string }) => one.sessionId;
      const conversationOf = new Map(
        turns.map((turn) => [bySession(turn), turn.messages[0]?.split(',')[0] ?? '']),
      );
      const wanted = turns.map(({ sessionId, turnId, answer }) => ({
        ...{ conversation: conversationOf.get(sessionId), session_id: sessionId, turn_id: turnId },
        ...{ kind: 'message', text: answer, final: true },
      }));
      const byTurn = (one: { turn_id: string | null }, other: { turn_id: string | null }) =>
        String(one.turn_id) < String(other.turn_id) ? -1 : 1;
      const told = shown.map(({ conversation, session_id, turn_id, kind, text, final }) => ({
        ...{ conversation, session_id, turn_id, kind, text, final },
      }));
      expect(told.sort(byTurn)).toEqual(wanted.sort(byTurn));
    },
    TIMEOUT_MS,
  );

  it(
    'of Telegram, Slack and Discord: each message is one turn, and each chat ends as its journal',
    async () => {
      const random = seeded(SEED + 2);
      const channels = await Promise.all(products.all.map(connected));
      const sent = products.all.map(({ provider }) =>
        Array.from({ length: CHATS.count }, (_, chat) =>
          Array.from({ length: CHATS.messages }, (_, index) => `${provider} ${chat}, message ${index}`),
        ),
      );
      const writing = products.all.flatMap(({ chats, loseResponse }, product) => {
        loseResponse();
        return chats.map(async (chat, index) => {
          for (const text of sent[product]?.[index] ?? []) {
            await pause(random() * ((2 * KILLING_MS) / CHATS.messages));
            chat.send(text);
          }
        });
      });
      const [kills] = await Promise.all([
        killUntil(Date.now() + KILLING_MS, fleet, VICTIMS, seeded(SEED + 3)),
        ...writing,
      ]);
      expect(kills).toBeGreaterThan(2);
      await fleet.ready();
      let repeated = 0;
      for (const [index, product] of products.all.entries()) {
        repeated += await expectAsJournal(product, channels[index] ?? '', sent[index] ?? []);
      }
      expect(repeated).toBeGreaterThan(0);
    },
    2 * TIMEOUT_MS,
  );

  /** Creates the channel of a product. Returns its id when it is connected. */
  async function connected({ provider, credentials, mode }: ChatProduct): Promise<string> {
    const id = String((await createChannel({ provider, credentials, config: { mode } })).deployment_id);
    await until(`the channel of ${provider} is connected`, async () => {
      const { body } = await fleet.api.get(`${deployments}/${id}`);
      return (body.data.connection as { state?: string } | undefined)?.state === 'connected';
    });
    return id;
  }

  /** Compares what a product shows with the journals. Returns the number of answers that were shown twice. */
  async function expectAsJournal(
    { provider, chats, keepsOrder }: ChatProduct,
    channel: string,
    sent: readonly (readonly string[])[],
  ): Promise<number> {
    const isReceived = async () =>
      (await channelTurns(fleet.databaseUrl, channel)).length >= sent.flat().length;
    await until(`each message of ${provider} is a turn`, isReceived, DRAIN_MS);
    await drained(channel);
    const turns = await channelTurns(fleet.databaseUrl, channel);
    expectOneTurnEach(turns, sent, keepsOrder);
    const posts = await fleet.api.list<Post>(`${deployments}/${channel}/posts?limit=100`);
    expect(posts.filter(({ state }) => state !== 'posted')).toEqual([]);
    let repeated = 0;
    for (const [index, chat] of chats.entries()) {
      const wanted = turns.filter(({ messages }) => sent[index]?.includes(messages[0] ?? ''));
      const told = wanted.flatMap(({ turnId }) => posts.filter((post) => post.turn_id === turnId));
      expect(told.map(({ turn_id }) => turn_id)).toEqual(wanted.map(({ turnId }) => turnId));
      const ids = told.map(({ external_id }) => external_id);
      const shown = chat.shown();
      const isCurrent = ({ id }: { id: string }) => ids.some((one) => one === id || one?.endsWith(`:${id}`));
      expect(shown.filter(isCurrent).map(({ text }) => text)).toEqual(wanted.map(({ answer }) => answer));
      // A message that was shown before shows the answer as far as it had come.
      const marked = told.filter((post) => post.maybe_duplicate).map(({ turn_id }) => turn_id);
      const repeatable = wanted.filter(({ turnId }) => marked.includes(turnId)).map(({ answer }) => answer);
      const earlier = shown.filter((message) => !isCurrent(message));
      expect(earlier.filter(({ text }) => !repeatable.some((answer) => answer.startsWith(text)))).toEqual([]);
      repeated += earlier.length;
    }
    return repeated;
  }
});
