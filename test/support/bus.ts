import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../../lib/bus/bus.ts';

type OpenBus = (onError: (error: unknown) => void) => Bus;

/** What every bus does within one process. */
export function conforms(name: string, open: OpenBus): void {
  describe(name, () => {
    const errors: unknown[] = [];
    let bus: Bus;
    beforeEach(() => {
      errors.length = 0;
      bus = open((error) => errors.push(error));
    });
    afterEach(() => bus.close());

    it('has told every subscriber in this process when publish returns', () => {
      const heard: string[] = [];
      bus.subscribe('agents.changed', (subject) => heard.push(`first ${subject}`));
      bus.subscribe('agents.changed', (subject) => heard.push(`second ${subject}`));
      bus.publish('agents.changed', 'agt_1');
      bus.publish('agents.changed', 'agt_1');
      expect(heard).toEqual(['first agt_1', 'second agt_1', 'first agt_1', 'second agt_1']);
    });

    it('tells nobody of another channel', () => {
      const heard: string[] = [];
      bus.subscribe('users.changed', (subject) => heard.push(subject));
      bus.publish('agents.changed', 'agt_1');
      bus.publish('turns.ready', '');
      expect(heard).toEqual([]);
    });

    it('tells nobody any more who has ended, and goes on telling the others', () => {
      const heard: string[] = [];
      const listener = (subject: string) => void heard.push(subject);
      const end = bus.subscribe('agents.changed', listener);
      bus.subscribe('agents.changed', listener);
      end();
      end();
      bus.publish('agents.changed', 'agt_1');
      expect(heard).toEqual(['agt_1']);
    });

    it('lets a listener end itself and begin another while it is told', () => {
      const heard: string[] = [];
      const end = bus.subscribe('agents.changed', () => {
        end();
        bus.subscribe('agents.changed', (subject) => heard.push(subject));
      });
      bus.publish('agents.changed', 'agt_1');
      heard.length = 0;
      bus.publish('agents.changed', 'agt_2');
      expect(heard).toEqual(['agt_2']);
    });

    it('keeps what a listener throws from whoever gives the hint and from other listeners', () => {
      const heard: string[] = [];
      const mistake = new Error('a listener at fault');
      bus.subscribe('agents.changed', () => {
        throw mistake;
      });
      bus.subscribe('agents.changed', (subject) => heard.push(subject));
      bus.publish('agents.changed', 'agt_1');
      expect(heard).toEqual(['agt_1']);
      expect(errors).toContain(mistake);
    });

    it('settles', () => bus.settle(5));

    it('is closed for good, twice without harm, and then silent', async () => {
      const heard: string[] = [];
      bus.subscribe('agents.changed', (subject) => heard.push(subject));
      await bus.close();
      await bus.close();
      bus.publish('agents.changed', 'agt_1');
      expect(heard).toEqual([]);
    });
  });
}
