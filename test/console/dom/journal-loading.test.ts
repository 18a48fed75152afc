import { QueryClient } from '@tanstack/react-query';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { client } from '../../../console/gen/client.gen.ts';
import { newestPage } from '../../../console/journal/event-pages.ts';
import { Journal } from '../../../console/journal/journal.ts';
import type { JournalView } from '../../../console/journal/view.ts';
import { type EventSpec, journal, text } from '../journal-events.ts';
import { FakeEventServer } from './fake-event-server.ts';

const ORIGIN = 'http://console.test';
/** A busy machine needs longer than the default of a wait. */
const WAIT = { timeout: 20_000 };

const turn = (number: number, files = 0): EventSpec[] => {
  const id = `trn_${number}`;
  return [
    ['user.message', text(`Message ${number}`), id],
    ['turn.queued', {}, id],
    ['turn.started', { attempt: 1, fence: 1 }, id],
    ...Array.from(
      { length: files },
      (_, index): EventSpec => ['file.created', { path: `${index}`, size: 1, workspace_version: 1 }, id],
    ),
    ['agent.message', { message_id: `msg_${number}`, ...text(`Answer ${number}`) }, id],
    ['turn.completed', {}, id],
  ];
};
const turns = (count: number, files = 0) =>
  Array.from({ length: count }, (_, index) => turn(index + 1, files)).flat();

const seqsOf = (section: Pick<JournalView, 'events'> | undefined) => section?.events.map(({ seq }) => seq);
/** The numbers from `from` to `to`. */
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('Journal', () => {
  const opened: Journal[] = [];
  const { baseUrl } = client.getConfig();
  beforeAll(() => {
    client.setConfig({ baseUrl: `${ORIGIN}${baseUrl}` });
    vi.stubGlobal('window', new EventTarget());
    vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
    vi.stubGlobal('requestAnimationFrame', (publish: () => void) => queueMicrotask(publish));
  });
  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });
  afterAll(() => {
    client.setConfig({ baseUrl: baseUrl ?? '' });
    vi.unstubAllGlobals();
  });

  function open(specs: EventSpec[]) {
    const server = new FakeEventServer(journal(...specs));
    vi.stubGlobal('fetch', server.fetch);
    const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    const one = new Journal(
      'ses_1',
      () => queries.fetchQuery(newestPage('ses_1')),
      () => {},
    );
    opened.push(one);
    return { server, journal: one };
  }
  const settled = (one: Journal) =>
    vi.waitFor(() => {
      expect(one.view.streamStatus).toBe('live');
      expect(one.view.isLoadingEarlier).toBe(false);
    }, WAIT);

  it('loads the newest events and the file events between them', async () => {
    const { journal: one } = open(turns(60, 2));
    await settled(one);
    const first = one.view.events[0];
    expect(first).toMatchObject({ type: 'user.message' });
    expect(seqsOf(one.view)).toEqual(range(first?.seq ?? 0, 420));
    while (one.view.hasEarlier) await one.loadEarlier();
    expect(seqsOf(one.view)).toEqual(range(1, 420));
  });

  it('reports file events that arrive after it has opened, and no earlier ones', async () => {
    const { server, journal: one } = open(turns(2, 3));
    await settled(one);
    expect(one.view.events.some(({ type }) => type === 'file.created')).toBe(true);
    expect(one.view.lastFileSeq).toBe(0);
    const seq = one.view.lastSeq + 1;
    server.append('file.created', { path: 'new', size: 1, workspace_version: 2 }, 'trn_2');
    await vi.waitFor(() => expect(one.view.lastFileSeq).toBe(seq), WAIT);
  });

  it('loads the file events again after a failed request', async () => {
    const { server, journal: one } = open(turns(2, 2));
    server.statusOf = (query) => (query.get('types')?.startsWith('file') ? 500 : 200);
    await settled(one);
    expect(one.view).toMatchObject({ hasEarlier: true, earlierError: { status: 500 } });
    server.statusOf = () => 200;
    await one.loadEarlier();
    expect(seqsOf(one.view)).toEqual(range(1, 14));
    expect(one.view).toMatchObject({ hasEarlier: false, earlierError: undefined });
  });

  it('shows the events around a linked event until they meet the newest events', async () => {
    const { journal: one } = open(turns(200));
    await one.showEvent(300);
    await settled(one);
    expect(one.view.linked).toMatchObject({ state: 'loaded', event: { seq: 300 } });
    const excerpt = one.view.excerpt;
    expect(seqsOf(excerpt)).toContain(300);
    expect(seqsOf(excerpt)).toEqual(range(excerpt?.events[0]?.seq ?? 0, excerpt?.events.at(-1)?.seq ?? 0));
    while (one.view.excerpt) await one.loadLater();
    expect(seqsOf(one.view)).toEqual(range(excerpt?.events[0]?.seq ?? 0, 1_000));
  });

  it('adds events that arrive while pages load', async () => {
    const { server, journal: one } = open(turns(200));
    let sent = 0;
    server.statusOf = () => {
      if (sent++ < 20) server.append('user.message', text('More'), 'trn_201');
      return 200;
    };
    await one.showEvent(300);
    await settled(one);
    while (one.view.excerpt) await one.loadLater();
    while (one.view.hasEarlier) await one.loadEarlier();
    await vi.waitFor(() => expect(seqsOf(one.view)).toEqual(range(1, 1_020)), WAIT);
  });

  it('continues after a lost connection without a gap', async () => {
    const { server, journal: one } = open(turns(1));
    await settled(one);
    server.closeStreams();
    for (let count = 0; count < 3; count++) server.append('user.message', text('More'), 'trn_2');
    await vi.waitFor(() => expect(seqsOf(one.view)).toEqual(range(1, 8)), WAIT);
    server.append('user.message', text('More'), 'trn_2');
    await vi.waitFor(() => expect(seqsOf(one.view)).toEqual(range(1, 9)), WAIT);
  });

  it('states that an event is missing, and shows it when it arrives', async () => {
    const { server, journal: one } = open(turns(1));
    await one.showEvent(6);
    await settled(one);
    expect(one.view.linked).toEqual({ seq: 6, state: 'missing' });
    server.append('user.message', text('More'), 'trn_2');
    await vi.waitFor(() => expect(one.view.linked).toMatchObject({ seq: 6, state: 'loaded' }), WAIT);
  });

  it('shows an event that arrives while it is searched', async () => {
    const { server, journal: one } = open(turns(1));
    await settled(one);
    server.afterAnswer = (query) => {
      if (query.get('after_seq') === '5') server.append('user.message', text('More'), 'trn_2');
    };
    await one.showEvent(6);
    await vi.waitFor(() => expect(one.view.linked).toMatchObject({ seq: 6, state: 'loaded' }), WAIT);
  });
});
