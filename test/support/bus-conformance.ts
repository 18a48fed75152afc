import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../../lib/bus/bus.ts';

type OpenBus = (onError: (error: unknown) => void) => Bus;

/** The contract of every bus within one process. */
export function testBus(name: string, open: OpenBus): void {
  describe(name, () => {
    const errors: unknown[] = [];
    let bus: Bus;
    beforeEach(() => {
      errors.length = 0;
      bus = open((error) => errors.push(error));
    });
    afterEach(() => bus.close());

    it('delivers a hint to every subscriber in the process before publish returns', () => {
      const received: string[] = [];
      bus.subscribe('agents.changed', (subject) => received.push(`first ${subject}`));
      bus.subscribe('agents.changed', (subject) => received.push(`second ${subject}`));
      bus.publish('agents.changed', 'agt_1');
      bus.publish('agents.changed', 'agt_1');
      expect(received).toEqual(['first agt_1', 'second agt_1', 'first agt_1', 'second agt_1']);
    });

    it('delivers no hint of another channel', () => {
      const received: string[] = [];
      bus.subscribe('users.changed', (subject) => received.push(subject));
      bus.publish('agents.changed', 'agt_1');
      bus.publish('turns.ready', '');
      expect(received).toEqual([]);
    });

    it('stops delivering to a subscriber that has unsubscribed, and continues with the others', () => {
      const received: string[] = [];
      const listener = (subject: string) => void received.push(subject);
      const end = bus.subscribe('agents.changed', listener);
      bus.subscribe('agents.changed', listener);
      end();
      end();
      bus.publish('agents.changed', 'agt_1');
      expect(received).toEqual(['agt_1']);
    });

    it('lets a listener unsubscribe itself and subscribe another during a delivery', () => {
      const received: string[] = [];
      const end = bus.subscribe('agents.changed', () => {
        end();
        bus.subscribe('agents.changed', (subject) => received.push(subject));
      });
      bus.publish('agents.changed', 'agt_1');
      received.length = 0;
      bus.publish('agents.changed', 'agt_2');
      expect(received).toEqual(['agt_2']);
    });

    it('reports an exception of a listener without affecting the publisher or other listeners', () => {
      const received: string[] = [];
      const mistake = new Error('a failing listener');
      bus.subscribe('agents.changed', () => {
        throw mistake;
      });
      bus.subscribe('agents.changed', (subject) => received.push(subject));
      bus.publish('agents.changed', 'agt_1');
      expect(received).toEqual(['agt_1']);
      expect(errors).toContain(mistake);
    });

    it('waits for propagation without failing', () => bus.awaitPropagation(5));

    it('delivers nothing after close, which may be called twice', async () => {
      const received: string[] = [];
      bus.subscribe('agents.changed', (subject) => received.push(subject));
      await bus.close();
      await bus.close();
      bus.publish('agents.changed', 'agt_1');
      expect(received).toEqual([]);
    });
  });
}
