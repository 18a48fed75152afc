import { describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { FollowedSessions } from '../../../services/sessions/followed-sessions.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Two instances of `sessions` that share a bus. `hints` are the published subjects. */
function openInstances() {
  const clock = createFakeClock();
  const bus = createLocalBus();
  const hints: string[] = [];
  bus.subscribe('sessions.followed', (sessionId) => hints.push(sessionId));
  const open = () => {
    const here = new Map<string, unknown>();
    const followed = new FollowedSessions({ bus, clock, here });
    return {
      follow(sessionId: string) {
        here.set(sessionId, true);
        followed.announce(sessionId);
      },
      leave: (sessionId: string) => here.delete(sessionId),
      has: (sessionId: string) => followed.has(sessionId),
      close: () => followed.close(),
    };
  };
  const [here, there] = [open(), open()];
  return {
    ...{ here, there, hints, clock },
    [Symbol.dispose]: () => {
      here.close();
      there.close();
    },
  };
}

describe('the followed sessions', () => {
  it('are known to other instances while they have followers, and forgotten within 10 s after that', () => {
    using instances = openInstances();
    const { here, there, clock } = instances;
    here.follow('ses_1');
    expect([here.has('ses_1'), there.has('ses_1'), there.has('ses_2')]).toEqual([true, true, false]);
    clock.advance(60_000);
    expect(there.has('ses_1')).toBe(true);
    here.leave('ses_1');
    expect(here.has('ses_1')).toBe(false);
    clock.advance(10_000);
    expect(there.has('ses_1')).toBe(false);
  });

  it('are announced again every 2 s, so that a lost hint is made up for', () => {
    using instances = openInstances();
    const { here, hints, clock } = instances;
    here.follow('ses_1');
    clock.advance(4_500);
    expect(hints).toEqual(['ses_1', 'ses_1', 'ses_1']);
  });

  it('of other instances take bounded memory', () => {
    using instances = openInstances();
    const { here, there } = instances;
    for (let index = 0; index < 100_001; index++) here.follow(`ses_${index}`);
    expect(there.has('ses_99999')).toBe(true);
    expect(there.has('ses_100000')).toBe(false);
  });
});
