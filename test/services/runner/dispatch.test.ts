import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { until } from '../../support/wait.ts';
import { open, script, textOf } from './open.ts';
import { asked } from './sessions.ts';

const numbered = (count: number, text = 'x') =>
  Array.from({ length: count }, (_, n) => asked(`trn_${n}`, text));
const forever = script({ text: 'x', delay_ms: 600_000 });

describe('claiming', () => {
  it('never takes more than the slots, and takes all that is queued', async () => {
    await using world = await open({ slots: 7 });
    const turns = numbered(100);
    world.ask({}, ...turns);
    for (const { turnId } of turns) await world.ended(turnId);
    expect(world.book.mostRunning).toBeLessThanOrEqual(7);
    for (const { slots } of world.book.claims) expect(slots).toBeLessThanOrEqual(7);
    expect(world.clock.now()).toEqual(new Date('2026-01-01T00:00:00.000Z'));
  });

  it('hears a hint that comes while it asks', async () => {
    await using world = await open();
    await until('it has asked once', () => world.book.claims.length === 1);
    // The answer to this claim is made before the turn is queued, and arrives after the hint.
    world.book.after.claim = () => {
      world.book.after.claim = undefined;
      world.ask({}, asked('trn_late', 'late'));
    };
    world.context.bus.publish('turns.ready', '');
    expect(textOf(await world.ended('trn_late'))).toBe('late');
  });

  it('hears a hint that comes while all slots are taken', async () => {
    await using world = await open({ slots: 1 });
    world.ask(script({ text: 'x', delay_ms: 50 }), asked('trn_1', ''));
    await until('it is claimed', () => world.book.running === 1);
    world.ask({}, asked('trn_2', 'second'));
    world.clock.advance(60);
    expect(textOf(await world.ended('trn_2'))).toBe('second');
  });

  it('asks by itself when no hint comes', async () => {
    await using world = await open();
    await until('it has asked once', () => world.book.claims.length === 1);
    world.book.queue({ ...asked('trn_1', 'quiet'), agentVersion: world.agents.add({}) });
    world.clock.advance(500);
    expect(textOf(await world.ended('trn_1'))).toBe('quiet');
  });

  it('is done by one at a time, however many hints come', async () => {
    await using world = await open({ slots: 50 });
    let underWay = 0;
    let most = 0;
    world.book.before.claim = async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
    };
    const turns = numbered(200);
    for (const turn of turns) world.ask({}, turn);
    for (const { turnId } of turns) await world.ended(turnId);
    expect(most).toBe(1);
  });

  it('goes on after failures, with growing pauses, and says that it cannot work meanwhile', async () => {
    await using world = await open();
    let isAway = true;
    world.book.before.claim = () => {
      if (isAway) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
    };
    world.ask({}, asked('trn_1', 'patient'));
    await world.passTime('some tries', () => world.book.claims.length > 4, 50);
    // 0, 100, 300, 700, 1500 ms.
    expect(world.clock.now().getTime()).toBeGreaterThanOrEqual(Date.parse('2026-01-01T00:00:01.500Z'));
    await expect(world.runner.check?.()).rejects.toThrow('cannot be claimed');
    isAway = false;
    await world.passTime('it is done', () => world.book.of('trn_1').outcomes.length > 0, 50);
    await world.runner.check?.();
  });
});

describe('draining', () => {
  it('lets turns end that are nearly done', async () => {
    await using world = await open({ drainMs: 1_000 });
    world.ask(script({ text: 'nearly', delay_ms: 600 }), asked('trn_1', ''));
    await until('it is claimed', () => world.book.running === 1);
    const drained = world.runner.drain?.();
    await world.passTime('it has ended', () => world.book.running === 0, 50);
    await drained;
    expect(textOf(world.book.of('trn_1'))).toBe('nearly');
  });

  it('hands the others back, to go on elsewhere at once', async () => {
    await using world = await open({ drainMs: 1_000 });
    const long = script({ text: 'a long story '.repeat(500), chunk_chars: 5, delay_ms: 20 });
    world.ask(long, ...numbered(3));
    await world.passTime('all speak', () =>
      numbered(3).every(({ turnId }) => world.book.of(turnId).appended > 1),
    );
    const drained = world.runner.drain?.();
    await world.passTime('all are handed back', () => world.book.running === 0, 50);
    await drained;
    for (const { turnId } of numbered(3)) {
      const { outcomes, events, openMessageId } = world.book.of(turnId);
      expect(outcomes).toMatchObject([
        { kind: { $case: 'retry', value: { error: { code: 'runner_stopping' }, delayMs: 1 } } },
      ]);
      expect(events.at(-2)).toMatchObject({
        type: 'agent.message_discarded',
        data: { reason: 'runner_stopping' },
      });
      expect(openMessageId).toBe('');
    }
  });

  it('claims nothing any more, and hands back what a claim under way still brings', async () => {
    await using world = await open({ drainMs: 0 });
    await until('it has asked once', () => world.book.claims.length === 1);
    const answer = Promise.withResolvers<void>();
    world.book.before.claim = () => answer.promise;
    world.ask(forever, asked('trn_1', ''));
    await until('it asks', () => world.book.claims.length === 2);
    const drained = world.runner.drain?.();
    world.clock.advance(1);
    answer.resolve();
    await drained;
    expect(world.book.of('trn_1').outcomes).toMatchObject([{ kind: { $case: 'retry' } }]);
    world.ask({}, asked('trn_2', ''));
    world.clock.advance(5_000);
    expect(world.book.claims.length).toBe(2);
  });
});
