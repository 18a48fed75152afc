import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryWork } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { advanceUntil, until } from '../../../support/wait.ts';
import { OWNER } from '../system.ts';
import {
  command,
  inPlace,
  LEASE_SECONDS,
  OTHER_SESSION,
  openWorkSystem,
  RETRY,
  SESSION,
  type WorkSystem,
} from './work-fixtures.ts';

const LEASE_MS = LEASE_SECONDS * 1_000;
const textsOf = (works: readonly DeliveryWork[]) => works.map(({ event }) => event?.text);

describe('deliveries of channels', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
  });

  const openChannel = (changes = {}) =>
    system.createChannel({
      access: { mode: 'anyone', people: [], places: [], allowExternal: false },
      ...changes,
    });

  it('are claimed one after the other in a conversation, and side by side between conversations', async () => {
    const { worker } = system;
    const channel = await openChannel();
    for (const text of ['one', 'two']) await system.receive(channel, { text });
    await system.receive(channel, { text: 'other', place: inPlace('C2') });
    const first = await worker.claimDeliveries();
    expect(textsOf(first)).toEqual(['one', 'other']);
    expect(await worker.claimDeliveries()).toEqual([]);
    await worker.finish(first[0]!);
    expect(textsOf(await worker.claimDeliveries())).toEqual(['two']);
  });

  it('follow the order key of the product', async () => {
    const channel = await openChannel();
    await system.receive(channel, { text: 'late', orderKey: '1700000002.000100' });
    await system.receive(channel, { text: 'early', orderKey: '1700000001.000100' });
    expect(textsOf(await system.worker.claimDeliveries())).toEqual(['early']);
    expect(await system.worker.claimDeliveries()).toEqual([]);
  });

  it('wait for a later message that a worker has already', async () => {
    const { worker } = system;
    const channel = await openChannel();
    await system.receive(channel, { text: 'second', orderKey: '2' });
    const [second] = await worker.claimDeliveries();
    await system.receive(channel, { text: 'first', orderKey: '1' });
    expect(await worker.claimDeliveries()).toEqual([]);
    await worker.finish(second!);
    expect(textsOf(await worker.claimDeliveries())).toEqual(['first']);
  });

  it('are overtaken by commands and clicks, and a command holds back later messages', async () => {
    const { worker } = system;
    const channel = await openChannel();
    await system.receive(channel, { text: 'one' });
    await system.receive(channel, { text: 'two' });
    await worker.claimDeliveries();
    await system.receive(channel, { ...command('stop'), text: '/stop' });
    await system.receive(channel, { kind: 'action', text: 'click' });
    expect(textsOf(await worker.claimDeliveries())).toEqual(['/stop', 'click']);
    await system.receive(channel, { ...command('new'), text: '/new', place: inPlace('C2') });
    await system.receive(channel, { text: 'after', place: inPlace('C2') });
    const [started] = await worker.claimDeliveries();
    expect(started?.event?.text).toBe('/new');
    await worker.finish(started!, { sessionId: '', turnId: '', detachSession: true });
    expect(textsOf(await worker.claimDeliveries())).toEqual(['after']);
  });

  it('are shared by two workers, each to one of them', async () => {
    const { worker, otherWorker } = system;
    const channel = await openChannel();
    for (let index = 0; index < 20; index++) await system.receive(channel, { place: inPlace(`C${index}`) });
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? worker : otherWorker).claimDeliveries(3)),
    );
    const ids = claims.flat().map(({ deliveryId }) => deliveryId);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  it('of a killed worker are claimed again when the lease has ended, and its report is refused', async () => {
    const { worker, otherWorker, clock } = system;
    const channel = await openChannel();
    const deliveryId = await system.receive(channel);
    const [lost] = await worker.claimDeliveries();
    clock.advance(LEASE_MS - 1);
    expect(await otherWorker.claimDeliveries()).toEqual([]);
    clock.advance(1);
    const [again] = await otherWorker.claimDeliveries();
    expect(again).toMatchObject({ deliveryId, attempts: 2, fence: lost!.fence + 1 });
    await expect(worker.finish(lost!)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await otherWorker.finish(again!);
    expect(await system.deliveryOf(deliveryId)).toMatchObject({ result: 'accepted', session_id: SESSION });
  });

  it('of a worker that left before the answer can be claimed soon, without a counted attempt', async () => {
    const { worker, otherWorker, clock, fakes } = system;
    const channel = await openChannel();
    await system.receive(channel);
    await worker.accept();
    const deliveryId = await system.receive(channel);
    clock.advance(1_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    const pause = { waiting: 0, until: promise };
    fakes.pauses.set('resolveAgent', pause);
    const leaving = new AbortController();
    const { workerId, options } = worker;
    const request = { workerId, waitMs: 0, leaseSeconds: LEASE_SECONDS, connections: 0 };
    const claim = worker.client.claimWork(
      { ...request, conversations: 10, deliveries: 10 },
      { ...options(), signal: leaving.signal },
    );
    await until('the claim checks the sender', () => pause.waiting > 0);
    const leftAt = clock.now().getTime();
    leaving.abort();
    await expect(claim).rejects.toMatchObject({ code: 'CANCELLED' });
    fakes.pauses.clear();
    resolve();
    const found = await advanceUntil(
      'another worker has got the work',
      () => clock.advance(500),
      async () => {
        const { conversations, deliveries } = await otherWorker.claim();
        return (conversations.length + deliveries.length > 0 && { conversations, deliveries }) || undefined;
      },
    );
    const more = await advanceUntil(
      'another worker has got the delivery',
      () => clock.advance(500),
      async () => [...found.deliveries, ...(await otherWorker.claimDeliveries())].at(0),
    );
    expect(more).toMatchObject({ deliveryId, attempts: 1 });
    expect(found.conversations).toMatchObject([{ conversation: 'C1' }]);
    expect(clock.now().getTime() - leftAt).toBeLessThan(LEASE_MS);
  });

  it('accept the same report again, also after a retry', async () => {
    const { worker, clock } = system;
    const channel = await openChannel();
    const deliveryId = await system.receive(channel);
    const [work] = await worker.claimDeliveries();
    for (let repetition = 0; repetition < 3; repetition++) await worker.finish(work!, RETRY);
    expect(await system.deliveryOf(deliveryId)).toMatchObject({ result: 'pending', attempts: 1 });
    clock.advance(20_000);
    const [again] = await worker.claimDeliveries();
    for (let repetition = 0; repetition < 3; repetition++)
      await worker.finish(again!, { notices: [{ key: '', text: 'Started.', isPrivate: false }] });
    expect(await system.posts(channel)).toHaveLength(1);
  });

  it('fail after ten attempts in about an hour, with the last reason, and free their conversation', async () => {
    const { worker, clock } = system;
    const channel = await openChannel();
    const deliveryId = await system.receive(channel, { text: 'bad' });
    await system.receive(channel, { text: 'good' });
    const start = clock.now().getTime();
    for (let attempt = 1; attempt <= 10; attempt++) {
      let works = await worker.claimDeliveries();
      while (works.length === 0) {
        clock.advance(20_000);
        works = await worker.claimDeliveries();
      }
      expect(works).toMatchObject([{ deliveryId, attempts: attempt }]);
      await worker.finish(works[0]!, RETRY);
    }
    const minutes = (clock.now().getTime() - start) / 60_000;
    expect(minutes).toBeGreaterThan(40);
    expect(minutes).toBeLessThan(90);
    expect(await system.deliveryOf(deliveryId)).toMatchObject({ result: 'failed', reason: 'unavailable' });
    expect(textsOf(await worker.claimDeliveries())).toEqual(['good']);
  });

  it('fail when ten workers in a row give no answer', async () => {
    const { worker, clock } = system;
    const deliveryId = await system.receive(await openChannel());
    for (let claims = 0; claims < 10; ) {
      clock.advance(LEASE_MS);
      if ((await worker.claimDeliveries()).length > 0) claims++;
    }
    clock.advance(3 * 3_600_000);
    expect(await worker.claimDeliveries()).toEqual([]);
    expect(await system.deliveryOf(deliveryId)).toMatchObject({ result: 'failed', reason: 'no_result' });
  });

  it('that wait for a held queue count no attempt, and go on with a signal of the session', async () => {
    const { worker, clock } = system;
    const channel = await openChannel();
    await system.receive(channel, { text: 'first' });
    await worker.accept();
    const deliveryId = await system.receive(channel, { text: 'held' });
    for (let round = 0; round < 15; round++) {
      const [work] = await worker.claimDeliveries();
      await worker.finish(work!, { ...RETRY, reason: 'queue_held', isWaiting: true });
      expect(await worker.claimDeliveries()).toEqual([]);
      clock.advance(60_000);
    }
    const [work] = await worker.claimDeliveries();
    expect(work?.attempts).toBe(1);
    await worker.finish(work!, { ...RETRY, reason: 'queue_held', isWaiting: true });
    expect(await worker.claimDeliveries()).toEqual([]);
    system.fakes.scheduled.signal({ kind: 'turn_resumed', sessionId: SESSION, turn: undefined });
    const claimed = worker.claim({ conversations: 0, waitMs: 10_000 });
    system.context.bus.publish('sessions.signals', '');
    expect((await claimed).deliveries).toMatchObject([{ deliveryId }]);
  });

  it('get the session of their conversation, and none after a detachment or a long silence', async () => {
    const { worker, clock } = system;
    const channel = await openChannel({ newSessionAfterIdleSeconds: 3_600 });
    await system.receive(channel);
    expect(await worker.accept()).toMatchObject({ sessionId: '', ownerId: OWNER.userId, agentVersion: 7 });
    await system.receive(channel);
    expect(await worker.accept()).toMatchObject({ sessionId: SESSION, ownerId: OWNER.userId });
    clock.advance(3_601_000);
    await system.receive(channel);
    expect(await worker.accept({ sessionId: OTHER_SESSION })).toMatchObject({ sessionId: '' });
    await system.receive(channel, command('new'));
    await worker.accept({ sessionId: '', turnId: '', detachSession: true });
    expect(await system.conversations(channel)).toMatchObject([{ sessionId: '', people: 1 }]);
    await system.receive(channel);
    expect(await worker.accept()).toMatchObject({ sessionId: '' });
    expect(await system.conversations(channel)).toMatchObject([{ sessionId: SESSION }]);
  });

  it('of a disabled channel are claimed when it is enabled again', async () => {
    const channel = await openChannel();
    await system.receive(channel);
    await system.disable(channel);
    expect(await system.worker.claimDeliveries()).toEqual([]);
    await system.enable(channel);
    expect(await system.worker.claimDeliveries()).toHaveLength(1);
  });

  it('wake a waiting claim, which ends without work after its time', async () => {
    const { worker, clock, context } = system;
    const channel = await openChannel();
    const waiting = worker.claim({ waitMs: 20_000 });
    await system.receive(channel, { text: 'now' });
    context.bus.publish('channels.work', channel);
    expect(textsOf((await waiting).deliveries)).toEqual(['now']);
    let isAnswered = false;
    const empty = worker.claim({ waitMs: 20_000 }).then((work) => {
      isAnswered = true;
      return work;
    });
    const end = clock.now().getTime() + 21_000;
    while (!isAnswered && clock.now().getTime() < end) {
      clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await empty).deliveries).toEqual([]);
  });
});
