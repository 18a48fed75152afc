import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { countOn } from '../../support/sql.ts';
import { passing, until } from '../../support/wait.ts';
import {
  change,
  type House,
  mkdir,
  move,
  OWNER,
  ofAssistant,
  ofSession,
  openHouse,
  openReplica,
  remove,
  sha256,
  write,
} from './house.ts';

describe('what sessions are told of their files', () => {
  let house: House | undefined;
  afterEach(() => house?.[Symbol.asyncDispose]());

  const silent = createLog({ level: 'silent', pretty: false });
  const owed = (one: House) => countOn(one.database.url, 'select count(*) from files.deliveries');

  it('is told before the change is answered', async () => {
    house = await openHouse();
    const sessionId = house.neighbours.session();
    const place = ofSession(sessionId);
    await write(house.edge, place, { 'd/a': 'one' });
    await write(house.edge, place, { 'd/a': 'two' });
    await change(house.edge, place, [mkdir('e'), move('d', 'e/f'), remove('e/f/a')]);
    const told = house.neighbours.told(sessionId);
    const common = { userId: OWNER.userId, createdAt: expect.any(Date) };
    expect(
      told.map(({ seq, type, dataJson, ...rest }) => ({ seq, type, data: JSON.parse(dataJson), ...rest })),
    ).toEqual([
      {
        ...common,
        seq: 2,
        type: 'file.created',
        data: { path: 'd/a', size: 3, sha256: sha256('one'), workspace_version: 1 },
      },
      {
        ...common,
        seq: 3,
        type: 'file.modified',
        data: { path: 'd/a', size: 3, sha256: sha256('two'), workspace_version: 2 },
      },
      { ...common, seq: 4, type: 'file.deleted', data: { path: 'd', workspace_version: 3 } },
    ]);
    expect(await owed(house)).toBe(0);
  });

  it('is told later when sessions are away, all of it and in its order', async () => {
    const clock = createFakeClock();
    house = await openHouse('in process', { clock, log: silent });
    const sessionId = house.neighbours.session();
    const place = ofSession(sessionId);
    let isAway = true;
    house.neighbours.onAppend = () => {
      if (isAway) throw refuse('DEPENDENCY_UNAVAILABLE', 'sessions cannot be reached');
    };
    for (let index = 0; index < 5; index++) await write(house.edge, place, { [`f${index}`]: `${index}` });
    expect(house.neighbours.told(sessionId)).toEqual([]);
    expect(await owed(house)).toBe(1);
    isAway = false;
    const here = house;
    await passing(
      'the session has been told',
      () => clock.advance(5_000),
      async () => (await owed(here)) === 0,
    );
    expect(house.neighbours.told(sessionId).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it('is told to as many as there are in one round', async () => {
    const clock = createFakeClock();
    house = await openHouse('in process', { clock, log: silent });
    const here = house;
    let isAway = true;
    house.neighbours.onAppend = () => {
      if (isAway) throw refuse('DEPENDENCY_UNAVAILABLE', 'sessions cannot be reached');
    };
    const sessions = Array.from({ length: 70 }, () => here.neighbours.session());
    await Promise.all(sessions.map((id) => write(here.edge, ofSession(id), { a: 'one' })));
    expect(await owed(here)).toBe(70);
    isAway = false;
    clock.advance(60_000);
    await until('all have been told', async () => (await owed(here)) === 0);
  });

  it('does not hold up a change for long', async () => {
    house = await openHouse();
    const sessionId = house.neighbours.session();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    house.neighbours.onAppend = () => held;
    await write(house.edge, ofSession(sessionId), { a: 'one' });
    expect(house.neighbours.told(sessionId)).toEqual([]);
    release();
    await until('the session has been told', () => house?.neighbours.told(sessionId).length === 1);
  });

  it('is told after a crash by whoever comes next', async () => {
    const clock = createFakeClock();
    house = await openHouse('in process', { clock, log: silent });
    const sessionId = house.neighbours.session();
    house.neighbours.onAppend = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'sessions cannot be reached');
    };
    await write(house.edge, ofSession(sessionId), { a: 'one' });
    house.neighbours.onAppend = () => {};
    await using _next = await openReplica('in process', house.context, house.neighbours, house.blobs);
    const here = house;
    await passing(
      'the session has been told',
      () => clock.advance(5_000),
      async () => (await owed(here)) === 0,
    );
    expect(house.neighbours.told(sessionId)).toHaveLength(1);
  });

  it('is not told to sessions that are gone', async () => {
    const clock = createFakeClock();
    house = await openHouse('in process', { clock });
    const sessionId = house.neighbours.session();
    const { neighbours } = house;
    neighbours.onAppend = () => neighbours.drop(sessionId);
    await write(house.edge, ofSession(sessionId), { a: 'one' });
    expect(await owed(house)).toBe(0);
    expect(neighbours.told(sessionId)).toEqual([]);
  });

  it('is told once, in order, however many replicas and changes there are at once', async () => {
    house = await openHouse();
    await using other = await openReplica('in process', house.context, house.neighbours, house.blobs);
    const assistantId = house.neighbours.assistant();
    const sessions = [1, 2, 3].map(() => house!.neighbours.session(OWNER, assistantId));
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const files = index % 2 === 0 ? house!.edge : other.edge;
        return write(files, ofSession(sessions[index % 3]!), { [`f${index}`]: `${index}` });
      }),
    );
    await write(house.edge, ofAssistant(assistantId), { last: 'by nobody’s session' });
    const here = house;
    await until('all have been told', async () => (await owed(here)) === 0);
    const told = sessions.map((session) => here.neighbours.told(session).map(({ seq }) => seq));
    for (const seqs of told) expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(told.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  it('is told in many calls when there is much', async () => {
    house = await openHouse();
    const sessionId = house.neighbours.session();
    let calls = 0;
    house.neighbours.onAppend = () => void calls++;
    const texts = Object.fromEntries(Array.from({ length: 1_200 }, (_, index) => [`f${index}`, 'x']));
    await write(house.edge, ofSession(sessionId), texts);
    const here = house;
    await until('all has been told', () => here.neighbours.told(sessionId).length === 1_200);
    expect(calls).toBeGreaterThan(2);
  });
});
