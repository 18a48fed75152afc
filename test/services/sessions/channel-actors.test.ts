import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import {
  CHANNEL,
  channelActor,
  deliveryRequest,
  LINKED_USER,
  newDeliveryId,
  SENDER,
  sendForDelivery,
} from './channel-deliveries.ts';
import { trackSessions } from './created-sessions.ts';
import { actorOf, drainSignals, kindsOf, newRunId, suffixOf } from './deployment-runs.ts';
import {
  COMPLETED,
  claimTurn,
  content,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  STRANGER,
  sendText,
  typesOf,
} from './system.ts';
import { createReporter } from './turn-events.ts';

const caller = OWNER;
const DAY_MS = 24 * 3_600_000;
const JOURNALED_SENDER = {
  ...{ provider: 'slack', external_id: 'U123', name: 'Ada Lovelace', user_id: LINKED_USER, group: true },
};
const ACTOR = { type: 'channel', id: CHANNEL };

describe.each(TRANSPORTS)('channels as actors over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => {
    system.neighbourCalls.storedParts.length = 0;
  });

  const { begin, track } = trackSessions(() => system);
  const turnsOf = async (sessionId: string) => {
    const page = { limit: 50, cursor: '' };
    return (await system.channels.listTurns({ sessionId, page, unfinished: false }, { caller })).turns;
  };
  const sessionOf = async (sessionId: string) =>
    (await system.channels.getSession({ sessionId }, { caller })).session;
  const create = async (deliveryId = newDeliveryId(), more: Parameters<typeof deliveryRequest>[1] = {}) => {
    const created = await system.channels.createSession(deliveryRequest(deliveryId, more));
    return { ...created, sessionId: track(created.sessionId), deliveryId };
  };
  const eventsOf = async (sessionId: string, type: string) =>
    (await journalOf(system, sessionId))
      .filter((event) => event.type === type)
      .map(({ json }) => JSON.parse(json));

  describe('CreateSession', () => {
    it('creates an idle session without a turn for a delivery without text', async () => {
      const { sessionId, turnId, deliveryId } = await create(undefined, { title: ' Team\nroom ' });
      expect([suffixOf(sessionId), turnId]).toEqual([suffixOf(deliveryId), '']);
      expect(await sessionOf(sessionId)).toMatchObject({
        ...{ status: 'idle', queuedTurns: 0, title: 'Team room', deploymentId: CHANNEL, invocationId: '' },
        ...{ createdBy: OWNER.userId, agentVersion: 3 },
      });
      expect(await turnsOf(sessionId)).toEqual([]);
      const [created, ...others] = await journalOf(system, sessionId);
      expect(others).toEqual([]);
      expect(JSON.parse(created?.json ?? '{}')).toMatchObject({
        ...{ type: 'session.created', actor: ACTOR },
        data: { source: 'channel', deployment_id: CHANNEL },
      });
    });

    it('queues a turn with the id of the delivery and the sender for a delivery with text', async () => {
      const { sessionId, turnId, deliveryId } = await create(undefined, { text: 'Hello.', sender: SENDER });
      expect(turnId).toBe(`trn_${suffixOf(deliveryId)}`);
      expect(await eventsOf(sessionId, 'user.message')).toMatchObject([
        {
          ...{ turn_id: turnId, actor: ACTOR },
          data: { content: [{ type: 'text', text: 'Hello.' }], sender: JOURNALED_SENDER },
        },
      ]);
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'pending', title: 'Hello.' });
    });

    it('creates one session for a delivery that is repeated by two processes, also days later', async () => {
      const deliveryId = newDeliveryId();
      await using replica = await openReplica(transport, system.context);
      const answers = await Promise.all(
        [system, replica, system, replica].map(({ channels }) =>
          channels.createSession(deliveryRequest(deliveryId)),
        ),
      );
      const sessionId = track(answers[0]?.sessionId ?? '');
      const { turnId } = await sendForDelivery(system, sessionId, deliveryId);
      clock.advance(2 * DAY_MS);
      expect(await system.channels.createSession(deliveryRequest(deliveryId))).toEqual(answers[0]);
      expect(new Set(answers.map((answer) => answer.sessionId)).size).toBe(1);
      expect(await turnsOf(sessionId)).toMatchObject([{ turnId }]);
    });

    it.each([
      ['an unknown type', { type: 'webhook' }, '/actor/type must be channel'],
      ['a schedule', { ...actorOf(newRunId()) }, '/actor/type must be channel'],
      ['no delivery', { deliveryId: undefined }, '/actor/delivery_id must be a dlv_… id'],
      ['a run', { deliveryId: newRunId() }, '/actor/delivery_id must be a dlv_… id'],
    ])('refuses %s', async (_, fault, message) => {
      const actor = { ...channelActor(newDeliveryId()), ...fault };
      const request = { ...deliveryRequest(newDeliveryId()), deploymentId: '', actor };
      await expect(system.channels.createSession(request)).rejects.toMatchObject({
        ...{ code: 'INVALID_REQUEST', message },
      });
    });

    it('refuses an invocation of the channel worker, and a title and a sender of a schedule', async () => {
      const invocation = deliveryRequest(newDeliveryId(), {
        ...{ actor: undefined, invocationId: 'inv_01M7XYC91CC5TE06JQWDWRTJVR', text: 'Hello.' },
      });
      await expect(system.channels.createSession(invocation)).rejects.toMatchObject({
        ...{ code: 'INVALID_REQUEST', message: '/actor is required' },
      });
      const run = deliveryRequest('', { deploymentId: '', text: 'Report.', actor: actorOf(newRunId()) });
      for (const fault of [{ title: 'Room' }, { sender: SENDER }])
        await expect(system.deployments.createSession({ ...run, ...fault })).rejects.toMatchObject({
          ...{ code: 'INVALID_REQUEST', message: expect.stringContaining('actor of a channel') },
        });
    });
  });

  describe('SendMessage', () => {
    it('journals the sender with the message, and the actor', async () => {
      const sessionId = await begin();
      const { turnId } = await sendForDelivery(system, sessionId, newDeliveryId());
      expect(await eventsOf(sessionId, 'user.message')).toMatchObject([
        { turn_id: turnId, actor: ACTOR, data: { sender: JOURNALED_SENDER } },
      ]);
      const unlinked = { ...SENDER, userId: undefined, name: '<Bob>\n(he)', group: false };
      await sendForDelivery(system, sessionId, newDeliveryId(), { sender: unlinked });
      const messages = await eventsOf(sessionId, 'user.message');
      expect(messages.at(-1).data.sender).toEqual({
        ...{ provider: 'slack', external_id: 'U123', name: 'Bob he', group: false },
      });
    });

    it('queues one turn per delivery, also when it is repeated by two processes at once', async () => {
      const sessionId = await begin();
      const deliveryId = newDeliveryId();
      await using replica = await openReplica(transport, system.context);
      const answers = await Promise.all(
        [system, replica, system, replica].map((one) => sendForDelivery(one, sessionId, deliveryId)),
      );
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await turnsOf(sessionId)).toMatchObject([{ turnId: `trn_${suffixOf(deliveryId)}` }]);
    });

    it('returns the first turn of a delivery after the session was archived, also with attachments', async () => {
      const sessionId = await begin();
      const attached = {
        contentJson: JSON.stringify([{ type: 'image', media_type: 'image/png' }]),
        attachments: {
          attachments: [{ source: { $case: 'path' as const, value: 'inbox/photo.png' } }],
        },
      };
      const [plain, withParts] = [newDeliveryId(), newDeliveryId()];
      const first = await sendForDelivery(system, sessionId, plain);
      const second = await sendForDelivery(system, sessionId, withParts, attached);
      for (let turn = 0; turn < 2; turn++)
        await createReporter(system, await claimTurn(system))({ outcome: COMPLETED });
      await system.edge.archiveSession({ sessionId }, { caller });
      clock.advance(2 * DAY_MS);
      const replayed = { replayed: true };
      expect(await sendForDelivery(system, sessionId, plain)).toEqual({ ...first, ...replayed });
      expect(await sendForDelivery(system, sessionId, withParts, attached)).toEqual({
        ...{ ...second, ...replayed },
      });
      expect(system.neighbourCalls.storedParts).toHaveLength(1);
      for (const more of [{}, attached])
        await expect(sendForDelivery(system, sessionId, newDeliveryId(), more)).rejects.toMatchObject({
          code: 'SESSION_ARCHIVED',
        });
    });

    it('waits behind a running turn, or interrupts it', async () => {
      const sessionId = await begin('one');
      const running = await claimTurn(system);
      const waiting = await sendForDelivery(system, sessionId, newDeliveryId());
      const interrupting = await sendForDelivery(system, sessionId, newDeliveryId(), {
        busyPolicy: 'interrupt',
      });
      expect(await turnsOf(sessionId)).toMatchObject([
        { turnId: running.turnId, status: 'interrupted' },
        { turnId: waiting.turnId, status: 'queued' },
        { turnId: interrupting.turnId, status: 'queued' },
      ]);
      const [interrupt] = await eventsOf(sessionId, 'user.interrupt');
      expect(interrupt.actor).toEqual(ACTOR);
    });

    it('is refused while the queue is held, stores no parts, and is accepted after the release', async () => {
      const sessionId = await begin('one');
      await sendText(system, sessionId, 'two');
      await system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
      const deliveryId = newDeliveryId();
      const attached = {
        contentJson: JSON.stringify([{ type: 'image', media_type: 'image/png' }]),
        attachments: { attachments: [{ source: { $case: 'path' as const, value: 'inbox/photo.png' } }] },
      };
      for (const more of [{}, { busyPolicy: 'interrupt' }, attached])
        await expect(sendForDelivery(system, sessionId, deliveryId, more)).rejects.toMatchObject({
          ...{ code: 'SESSION_BUSY', message: expect.stringContaining('queue of the session is held') },
        });
      expect(system.neighbourCalls.storedParts).toEqual([]);
      await system.edge.releaseQueue({ sessionId }, { caller });
      expect(await sendForDelivery(system, sessionId, deliveryId)).toMatchObject({ replayed: false });
    });

    it('has the priority of triggers, and lets the session write signals from then on', async () => {
      const sessionId = await begin();
      await drainSignals(system);
      const { turnId } = await sendForDelivery(system, sessionId, newDeliveryId());
      const priority = `select priority as count from sessions.turns where turn_id = '${turnId}'`;
      expect(await countOn(system.database.url, priority)).toBe(1);
      await createReporter(system, await claimTurn(system))({ outcome: COMPLETED });
      const signals = (await drainSignals(system)).filter((signal) => signal.sessionId === sessionId);
      expect(kindsOf(signals)).toEqual(['turn_queued', 'turn_ended']);
    });

    it.each([
      ['an unknown product', { provider: 'teams' }, '/sender/provider'],
      ['no account', { externalId: '' }, '/sender/external_id'],
      ['an account of two lines', { externalId: 'U1\nU2' }, '/sender/external_id'],
      ['a long account', { externalId: 'U'.repeat(201) }, '/sender/external_id'],
      ['a malformed user', { userId: 'U123' }, '/sender/user_id'],
    ])('refuses a sender with %s', async (_, fault, pointer) => {
      const sessionId = await begin();
      const sender = { ...SENDER, ...fault };
      await expect(sendForDelivery(system, sessionId, newDeliveryId(), { sender })).rejects.toMatchObject({
        ...{ code: 'INVALID_REQUEST', message: expect.stringContaining(pointer) },
      });
      expect(await turnsOf(sessionId)).toEqual([]);
    });

    it('refuses a sender of a schedule and of a user, a foreign session, and a call without an actor', async () => {
      const sessionId = await begin();
      const message = { sessionId, contentJson: content('x'), busyPolicy: 'enqueue', idempotencyKey: '' };
      const invalid = { code: 'INVALID_REQUEST' };
      const ofSchedule = { ...message, actor: actorOf(newRunId()), sender: SENDER };
      await expect(system.deployments.sendMessage(ofSchedule, { caller })).rejects.toMatchObject(invalid);
      const ofUser = { ...message, sender: SENDER };
      await expect(system.edge.sendMessage(ofUser, { caller })).rejects.toMatchObject(invalid);
      await expect(system.channels.sendMessage(message, { caller })).rejects.toMatchObject(invalid);
      await expect(sendForDelivery(system, sessionId, newDeliveryId(), {}, STRANGER)).rejects.toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
      expect(typesOf(await journalOf(system, sessionId))).toEqual(['session.created']);
    });
  });

  describe('InterruptSession and CancelTurn', () => {
    it('end the turn in progress and the turns behind it, in the name of the channel', async () => {
      const { sessionId, turnId, deliveryId } = await create(undefined, { text: 'one' });
      await claimTurn(system);
      const behind = await sendForDelivery(system, sessionId, newDeliveryId());
      const actor = channelActor(deliveryId);
      for (let time = 0; time < 2; time++)
        await system.channels.interruptSession({ sessionId, turnId, actor }, { caller });
      await system.channels.cancelTurn({ sessionId, turnId: behind.turnId, actor }, { caller });
      expect(await turnsOf(sessionId)).toMatchObject([
        { turnId, status: 'interrupted' },
        { turnId: behind.turnId, status: 'cancelled' },
      ]);
      expect(await eventsOf(sessionId, 'user.interrupt')).toMatchObject([{ actor: ACTOR }]);
      expect(await eventsOf(sessionId, 'turn.cancelled')).toMatchObject([{ actor: ACTOR }]);
    });

    it('refuse a channel that names no turn or no actor, and a user who names a channel', async () => {
      const sessionId = await begin('one');
      const actor = channelActor(newDeliveryId());
      const [turn] = await turnsOf(sessionId);
      const turnId = turn?.turnId ?? '';
      const { channels, edge } = system;
      const invalid = (message: string) => ({ code: 'INVALID_REQUEST', message });
      await expect(channels.interruptSession({ sessionId, actor }, { caller })).rejects.toMatchObject(
        invalid('/turn_id is required of a channel'),
      );
      const unnamed = invalid('/actor is required');
      await expect(channels.interruptSession({ sessionId, turnId }, { caller })).rejects.toMatchObject(
        unnamed,
      );
      await expect(channels.cancelTurn({ sessionId, turnId }, { caller })).rejects.toMatchObject(unnamed);
      await expect(edge.cancelTurn({ sessionId, turnId, actor }, { caller })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
      expect(await turnsOf(sessionId)).toMatchObject([{ turnId, status: 'queued' }]);
    });
  });
});
