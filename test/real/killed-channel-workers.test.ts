import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../chaos/random.ts';
import { dataOfCreated } from '../support/api.ts';
import { createChannelClient, type PulledPost } from '../support/channel-client.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { freePort } from '../support/port.ts';
import { startTelegram, type Telegram } from '../support/products/telegram/server.ts';
import { killUntil } from '../support/random-kills.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const SEED = Number(process.env.SERVICE_TEST_SEED ?? 22);
/** The messages are sent, and processes are killed, during this time. */
const KILLING_MS = 9_000;
/** The leases of a killed worker end after 30 seconds, and then the other worker does its work. Usually all is done by then. */
const DRAIN_MS = 100_000;
/** A busy machine can need more than the usual minute. */
const TIMEOUT_MS = KILLING_MS + DRAIN_MS + 40_000;
const VICTIMS = [
  ...(['channels', 'channels 2', 'channels', 'channels 2'] as const),
  ...(['deployments', 'deployments 2', 'sessions', 'runner', 'edge'] as const),
] as const;
const PULLED = { conversations: 10, messages: 12 };
const TELEGRAM = { chats: 4, messages: 5 };
/** A callback whose answer was lost is sent again. */
const REPEATED = 0.3;

interface Turn {
  sessionId: string;
  turnId: string;
  /** The texts of its user messages. */
  messages: string[];
  /** The answer in the journal. */
  answer: string;
  end: string | undefined;
}
interface JournalRow {
  sessionId: string;
  type: string;
  turnId: string | null;
  data: { content?: { type: string; text?: string }[]; turn_id?: string };
}
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
  let telegram: Telegram;
  let fleet: Fleet;
  let deployments: string;
  beforeAll(async () => {
    telegram = await startTelegram({
      seed: SEED,
      faults: { rate429: 0.06, rate5xx: 0.06, appliedThenCut: 0.15 },
    });
    const settings = {
      SERVICE_CHANNELS_API_URLS: `telegram=${telegram.apiUrl}`,
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
    await telegram?.[Symbol.asyncDispose]();
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

  /** The turns of a channel in the order of their first messages, as the journals of its sessions tell them. */
  async function turnsOf(channel: string): Promise<Turn[]> {
    const events = await rows<JournalRow>(`
      select j.session_id as "sessionId", e ->> 'type' as type, e ->> 'turn_id' as "turnId", e -> 'data' as data
      from sessions.journal j join sessions.sessions s using (session_id),
        json_array_elements(j.events::json) with ordinality as listed (e, place)
      where s.deployment_id = '${channel}' order by j.session_id, j.first_seq, place`);
    const turns = new Map<string, Turn>();
    for (const { sessionId, type, turnId, data } of events) {
      const id = data.turn_id ?? turnId;
      if (!id) continue;
      const turn = turns.get(id) ?? { sessionId, turnId: id, messages: [], answer: '', end: undefined };
      turns.set(id, turn);
      const text = data.content?.map((part) => part.text ?? '').join('') ?? '';
      if (type === 'user.message') turn.messages.push(text);
      if (type === 'agent.message') turn.answer += text;
      if (ENDS.has(type)) turn.end = type;
    }
    return [...turns.values()];
  }

  /** Checks that the messages of each conversation are one turn each, in order and in one session. */
  function expectOneTurnEach(turns: readonly Turn[], sent: readonly (readonly string[])[]): void {
    const sessions = Map.groupBy(turns, ({ sessionId }) => sessionId);
    const told = Array.from(sessions.values(), (some) => some.map(({ messages }) => messages));
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

      const turns = await turnsOf(channel);
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
    'of Telegram: each message is one turn in order, and each chat ends as its journal',
    async () => {
      telegram.faults.enqueue('sendMessage', { kind: 'applied_then_cut' });
      const bot = telegram.createBot();
      const credentials = { bot_token: bot.token };
      const members = { provider: 'telegram', credentials, config: { mode: 'polling' } };
      const channel = String((await createChannel(members)).deployment_id);
      const random = seeded(SEED + 2);
      const chats = Array.from({ length: TELEGRAM.chats }, (_, index) => {
        const user = telegram.createUser({ firstName: `User ${index}` });
        return { user, chat: telegram.privateChat(user, bot) };
      });
      const sent = chats.map((_, chat) =>
        Array.from({ length: TELEGRAM.messages }, (_, index) => `chat ${chat}, message ${index}`),
      );
      const [kills] = await Promise.all([
        killUntil(Date.now() + KILLING_MS, fleet, VICTIMS, seeded(SEED + 3)),
        ...chats.map(async ({ user, chat }, index) => {
          for (const text of sent[index] ?? []) {
            await pause(random() * ((2 * KILLING_MS) / TELEGRAM.messages));
            telegram.post({ from: user, chat, text });
          }
        }),
      ]);
      expect(kills).toBeGreaterThan(2);
      await until('all updates are received', () => bot.updates.pending.length === 0, DRAIN_MS);
      await fleet.ready();
      await drained(channel);

      const turns = await turnsOf(channel);
      expectOneTurnEach(turns, sent);
      const posts = await fleet.api.list<Post>(`${deployments}/${channel}/posts?limit=100`);
      expect(posts.filter(({ state }) => state !== 'posted')).toEqual([]);
      let repeated = 0;
      for (const [index, { chat }] of chats.entries()) {
        const wanted = turns.filter(({ messages }) => sent[index]?.includes(messages[0] ?? ''));
        const postOf = ({ turnId }: Turn) => posts.filter((post) => post.turn_id === turnId);
        const told = wanted.flatMap(postOf);
        expect(told.map(({ turn_id }) => turn_id)).toEqual(wanted.map(({ turnId }) => turnId));
        const messages = telegram.messages(chat).filter(({ from }) => from?.is_bot);
        const ids = told.map(({ external_id }) => external_id);
        const isCurrent = (message: (typeof messages)[number]) => ids.includes(String(message.message_id));
        expect(messages.filter(isCurrent).map(({ text }) => text)).toEqual(
          wanted.map(({ answer }) => answer),
        );
        // A message that was shown before shows the answer as far as it had come.
        const marked = told.filter((post) => post.maybe_duplicate).map(({ turn_id }) => turn_id);
        const repeatable = wanted.filter(({ turnId }) => marked.includes(turnId)).map(({ answer }) => answer);
        const earlier = messages.filter((message) => !isCurrent(message)).map(({ text }) => text ?? '');
        expect(earlier.filter((text) => !repeatable.some((answer) => answer.startsWith(text)))).toEqual([]);
        repeated += earlier.length;
      }
      expect(repeated).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

const ENDS = new Set(['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']);
