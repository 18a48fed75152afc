import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withPrefix } from '../../../../lib/ids.ts';
import type { DeliveryWork } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { seeded } from '../../../chaos/random.ts';
import { OWNER } from '../system.ts';
import { inPlace, LEASE_SECONDS, openWorkSystem, RETRY, type WorkSystem } from './work-fixtures.ts';

const CONVERSATIONS = ['C1', 'C2', 'C3'];
const MESSAGES = 8;

/** The sessions service, to which a delivery is one turn however often it is sent. */
class Turns {
  /** The deliveries in the order of their turns, by conversation. */
  readonly byConversation = new Map<string, string[]>();

  send({ conversation, deliveryId }: DeliveryWork): string {
    const turns = this.byConversation.get(conversation) ?? [];
    if (!turns.includes(deliveryId)) this.byConversation.set(conversation, [...turns, deliveryId]);
    return withPrefix('trn', deliveryId);
  }
}

describe('workers that are killed at random, with lost answers', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it.each([1, 2])(
    'make one turn of each message, in the order of each conversation (seed %i)',
    async (seed) => {
      const random = seeded(seed);
      const { clock } = system;
      const access = { mode: 'anyone', people: [], places: [], allowExternal: false } as const;
      const channel = await system.createChannel({ access });
      const expected = new Map<string, string[]>(CONVERSATIONS.map((name) => [name, []]));
      for (let index = 0; index < MESSAGES; index++)
        for (const name of CONVERSATIONS)
          expected.get(name)?.push(await system.receive(channel, { place: inPlace(name) }));
      const turns = new Turns();

      /** Handles a delivery, or dies at one of the steps. */
      async function handle(worker: WorkSystem['worker'], work: DeliveryWork): Promise<void> {
        const fate = random();
        if (fate < 0.15) return;
        if (fate < 0.25) return void (await worker.finish(work, RETRY));
        const turnId = turns.send(work);
        if (fate < 0.4) return;
        const report = { sessionId: withPrefix('ses', channel), turnId, ownerId: OWNER.userId };
        await worker.finish(work, report);
        if (fate < 0.6) await worker.finish(work, report);
      }

      const finished = async () => {
        const rows = await system.sql<{ count: string }>(
          `select count(*) from deliveries where result = 'accepted' and deployment_id = $1`,
          [channel],
        );
        return Number(rows[0]?.count) === CONVERSATIONS.length * MESSAGES;
      };
      while (!(await finished())) {
        const workers = [system.worker, system.otherWorker];
        await Promise.all(
          workers.map(async (worker) => {
            for (const work of await worker.claimDeliveries(2)) await handle(worker, work);
          }),
        );
        clock.advance(random() < 0.5 ? 0 : (LEASE_SECONDS * 1_000) / 2);
      }
      expect(Object.fromEntries(turns.byConversation)).toEqual(Object.fromEntries(expected));
      const listed = await system.conversations(channel);
      expect(listed.map(({ people }) => people)).toEqual([1, 1, 1]);
    },
  );
});
