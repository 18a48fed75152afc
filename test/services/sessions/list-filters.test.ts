import { readdir, readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { countOn, runOn } from '../../support/sql.ts';
import { ADMINISTRATOR, AGENT, ASSISTANT, MANAGER, OWNER, openSystem, STRANGER } from './system.ts';

const KEYS = ['team', 'order', 'a=b', '__proto__'];
const VALUES = ['blue', 'red', '', '7', "o'neil", 'b=c'];
const STATES = ['completed', 'failed', 'queued'];
const HOUR_MS = 3_600_000;

interface Known {
  sessionId: string;
  ownerId: string;
  agentId: string;
  metadata: Record<string, string>;
  archived: boolean;
  state: string;
  createdAt: Date;
}

type Members = [key: string, value: string][];
interface Filter {
  members: Members;
  archived: boolean;
  agentId: string;
  states: string[];
  after: number | undefined;
  before: number | undefined;
}

const members = fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES)), {
  selector: ([key]) => key,
  maxLength: 3,
});
const hours = fc.option(fc.integer({ min: -1, max: 61 }), { nil: undefined });
const filters: fc.Arbitrary<Filter> = fc.record({
  members,
  archived: fc.boolean(),
  agentId: fc.constantFrom('', AGENT, ASSISTANT),
  states: fc.subarray(STATES, { maxLength: 2 }),
  after: hours,
  before: hours,
});

/** A message between services drops a member of this name. */
const storable = (given: Members) => Object.fromEntries(given.filter(([key]) => key !== '__proto__'));

describe('the filters of ListSessions by metadata and creation time', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  let clock: FakeClock;
  const start = Date.parse('2026-01-01T00:00:00Z');
  const known: Known[] = [];

  beforeAll(async () => {
    clock = createFakeClock(new Date(start));
    system = await openSystem('in process', { clock });
    const owned = fc.record({
      members,
      isForeign: fc.boolean(),
      agentId: fc.constantFrom(AGENT, ASSISTANT),
      later: fc.option(members, { nil: undefined }),
      fate: fc.constantFrom('kept', 'kept', 'archived', 'deleted'),
      state: fc.constantFrom('', ...STATES),
    });
    for (const made of fc.sample(owned, { numRuns: 60, seed: 7 })) {
      const caller = made.isForeign ? STRANGER : OWNER;
      const { session } = await system.edge.createConversation(
        {
          agentId: made.agentId,
          contentJson: made.state === 'queued' ? '[{"type":"text","text":"hello"}]' : '',
          title: '',
          metadata: storable(made.members),
          idempotencyKey: '',
        },
        { caller },
      );
      const { sessionId } = session!;
      const metadata = storable(made.later ?? made.members);
      if (made.later)
        await system.edge.updateSession({ sessionId, metadata: { entries: metadata } }, { caller });
      if (made.state === 'completed' || made.state === 'failed') await end(sessionId, made.state);
      if (made.fate === 'archived') await system.edge.archiveSession({ sessionId }, { caller });
      if (made.fate === 'deleted') await system.edge.deleteSession({ sessionId }, { caller });
      else
        known.unshift({
          ...{ sessionId, metadata, agentId: made.agentId, ownerId: caller.userId, state: made.state },
          archived: made.fate === 'archived',
          createdAt: clock.now(),
        });
      clock.advance(HOUR_MS);
    }
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const end = (sessionId: string, state: string) =>
    runOn(
      system.database.url,
      `set search_path = sessions;
       update heads set stop_reason = '{"type":"${state === 'failed' ? 'failed' : 'end_turn'}"}' where session_id = '${sessionId}';
       insert into session_outcomes (session_id, owner_id, agent_id, outcome)
         select session_id, owner_id, agent_id, '${state}' from sessions where session_id = '${sessionId}';`,
    );

  const timeOf = (hour: number | undefined) =>
    hour === undefined ? undefined : new Date(start + hour * HOUR_MS);
  const requestOf = ({ members, archived, agentId, states, after, before }: Filter) => ({
    ...{ agentId, deploymentId: '', status: '', q: '', archived, states },
    metadata: { members: members.map(([key, value]) => ({ key, value })) },
    createdAfter: timeOf(after),
    createdBefore: timeOf(before),
  });

  async function list(filter: Filter, caller: typeof OWNER, reach?: string): Promise<string[]> {
    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const request = { ...requestOf(filter), reach, page: { limit: 3, cursor } };
      const { sessions, page } = await system.edge.listSessions(request, { caller });
      found.push(...sessions.map(({ sessionId }) => sessionId));
      cursor = page?.nextCursor || undefined;
    }
    return found;
  }

  function expected(
    { members, archived, agentId, states, after, before }: Filter,
    ownerId?: string,
  ): string[] {
    const passes = (session: Known) =>
      (ownerId === undefined || session.ownerId === ownerId) &&
      (agentId === '' || session.agentId === agentId) &&
      session.archived === archived &&
      (states.length === 0 || states.includes(session.state)) &&
      members.every(
        ([key, value]) => Object.hasOwn(session.metadata, key) && session.metadata[key] === value,
      ) &&
      session.createdAt > (timeOf(after) ?? new Date(0)) &&
      session.createdAt < (timeOf(before) ?? new Date(8e15));
    return known.filter(passes).map(({ sessionId }) => sessionId);
  }

  it('return exactly the matching sessions of the caller, newest first, over several pages', async () => {
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        expect(await list(filter, OWNER)).toEqual(expected(filter, OWNER.userId));
      }),
      { numRuns: 150 },
    );
  });

  it('return exactly the matching sessions of all users to administrators and managers', async () => {
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        expect(await list(filter, ADMINISTRATOR, 'all')).toEqual(expected(filter));
        const ofAgent = { ...filter, agentId: AGENT };
        expect(await list(ofAgent, MANAGER, 'agent')).toEqual(expected(ofAgent));
      }),
      { numRuns: 100 },
    );
  });

  it('read entries that are those of the present metadata, also after changes, archiving and deletion', async () => {
    const present = `
      select s.owner_id, s.archived_at is not null as archived, hashtextextended(key || '=' || value, 0) as term, session_id
      from sessions.sessions s cross join lateral json_each_text(s.metadata) where s.deleted_at is null`;
    const entries = 'select owner_id, archived, term, session_id from sessions.session_metadata';
    const { url } = system.database;
    expect(await countOn(url, `select count(*) from (${present}) p`)).toBeGreaterThan(20);
    for (const [one, other] of [
      [present, entries],
      [entries, present],
    ])
      expect(await countOn(url, `select count(*) from (${one} except ${other}) d`)).toBe(0);
  });

  it('find sessions that were written before the index existed', async () => {
    const filter = { members: [['team', 'blue']] as Members, archived: false, agentId: '', states: [] };
    const request = { ...filter, after: undefined, before: undefined };
    const before = await list(request, OWNER);
    expect(before.length).toBeGreaterThan(0);
    await runOn(system.database.url, 'delete from sessions.session_metadata');
    expect(await list(request, OWNER)).toEqual([]);
    await runOn(system.database.url, await backfill());
    expect(await list(request, OWNER)).toEqual(before);
  });

  it('bind a cursor to them', async () => {
    const filter = { members: [['team', 'blue']] as Members, archived: false, agentId: '', states: [] };
    const request = requestOf({ ...filter, after: -1, before: undefined });
    const page = { limit: 1, cursor: '' };
    const first = await system.edge.listSessions({ ...request, page }, { caller: OWNER });
    const next = { limit: 1, cursor: first.page?.nextCursor ?? '' };
    expect(next.cursor).not.toBe('');
    const other = { metadata: { members: [{ key: 'team', value: 'red' }] } };
    for (const change of [
      other,
      { metadata: undefined },
      { createdAfter: undefined },
      { createdBefore: new Date() },
    ])
      await expect(
        system.edge.listSessions({ ...request, ...change, page: next }, { caller: OWNER }),
      ).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('refuse more than 5 members and a repeated key', async () => {
    const six = Array.from({ length: 6 }, (_, index) => ({ key: `k${index}`, value: '' }));
    for (const members of [six, [six[0]!, six[0]!]])
      await expect(
        system.edge.listSessions(
          {
            agentId: '',
            deploymentId: '',
            status: '',
            q: '',
            states: [],
            page: undefined,
            metadata: { members },
          },
          { caller: OWNER },
        ),
      ).rejects.toMatchObject({ code: 'INVALID_REQUEST', details: [{ pointer: '/metadata' }] });
  });
});

/** The migration that indexes existing sessions. */
async function backfill(): Promise<string> {
  const folder = new URL('../../../services/sessions/migrations/', import.meta.url);
  const name = (await readdir(folder)).find((file) => file.endsWith('-index-existing-metadata.sql'));
  return `begin; set local search_path = sessions; ${await readFile(new URL(name ?? '', folder), 'utf8')} commit;`;
}
