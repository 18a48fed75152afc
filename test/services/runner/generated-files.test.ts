import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { storeFiles } from '../../../services/runner/loop/store-files.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openProvider } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import { PROTOCOLS } from './model-step-fixture.ts';
import {
  dataOf,
  openTestRunner,
  outcomeOf,
  type RunnerUnderTest,
  script,
  typesOf,
} from './runner-fixture.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };

const file = (bytes: Uint8Array, mediaType: string) => ({
  file: { media_type: mediaType, data: Buffer.from(bytes).toString('base64') },
});

/** The steps of an answer with an image between two texts. */
const PICTURE = [{ text: 'Here it is: ' }, file(PNG, 'image/png'), { text: '.' }];

function run(fixture: RunnerUnderTest, ...steps: object[]) {
  fixture.queueTurns(script(...steps), queuedTurn('trn_1', 'Draw'));
  return fixture.waitForOutcome('trn_1');
}

const contentsOf = (journal: Awaited<ReturnType<typeof run>>) =>
  dataOf<{ content: object[] }>(journal, 'agent.message').map(({ content }) => content);

describe('an image or a file in the answer of a model', () => {
  it('is stored under the lease, and the journal has its digest in its place', async () => {
    await using fixture = await openTestRunner();
    const leases: (Lease | undefined)[] = [];
    fixture.files.before.storeParts = (lease) => void leases.push(lease);
    const journal = await run(fixture, ...PICTURE, file(Buffer.from('%PDF'), 'application/pdf'));
    const [image, pdf] = fixture.files.storedParts;
    expect(contentsOf(journal)).toEqual([
      [
        { type: 'text', text: 'Here it is: ' },
        { type: 'image', media_type: 'image/png', sha256: image?.sha256, size: PNG.length },
        { type: 'text', text: '.' },
        { type: 'file', media_type: 'application/pdf', sha256: pdf?.sha256, size: 4 },
      ],
    ]);
    expect(leases).toEqual([expect.objectContaining({ turnId: 'trn_1', fence: 1 })]);
    expect(JSON.stringify(journal)).not.toContain(PNG.toString('base64'));
  });

  it.each([
    ['image/jpeg', PNG, { type: 'image', media_type: 'image/png' }],
    ['image/png', Buffer.from('no image'), { type: 'file', media_type: 'application/octet-stream' }],
    ['not a media type', Buffer.from('text'), { type: 'file', media_type: 'application/octet-stream' }],
    ['audio/WAV', Buffer.alloc(0), { type: 'file', media_type: 'audio/wav' }],
  ])('with the media type %s gets the type that its bytes show', async (claimed, bytes, part) => {
    await using fixture = await openTestRunner();
    const [content] = contentsOf(await run(fixture, { text: 'x' }, file(bytes, claimed)));
    expect(content?.[1]).toMatchObject({ ...part, size: bytes.length });
  });

  it('is stored again for another attempt when the runner crashed before its report', async () => {
    await using fixture = await openTestRunner();
    const reached = Promise.withResolvers<void>();
    fixture.sessions.before.report = ({ reports }) => {
      if (!reports.some(({ events }) => events.some(({ type }) => type === 'agent.message'))) return;
      reached.resolve();
      return new Promise<void>(() => {});
    };
    fixture.queueTurns(script(...PICTURE), queuedTurn('trn_1', 'Draw'));
    await reached.promise;
    fixture.sessions.before.report = undefined;
    fixture.sessions.revokeLease('trn_1');
    await fixture.crash();
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject(END_TURN);
    expect(contentsOf(journal)).toHaveLength(1);
    expect(fixture.files.storedParts).toHaveLength(2);
  });

  it('is not journaled when the lease is lost while it is stored', async () => {
    await using fixture = await openTestRunner();
    const lost = Promise.withResolvers<void>();
    fixture.files.before.storeParts = () => {
      fixture.sessions.revokeLease('trn_1');
      lost.resolve();
      throw refuse('LEASE_LOST', 'The lease of the turn is lost.');
    };
    fixture.queueTurns(script(...PICTURE), queuedTurn('trn_1', 'Draw'));
    await lost.promise;
    fixture.files.before.storeParts = undefined;
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject(END_TURN);
    expect(contentsOf(journal)).toHaveLength(1);
    expect(journal.outcomes).toHaveLength(1);
  });

  it('waits for the files service while it restarts', async () => {
    await using fixture = await openTestRunner();
    let failures = 3;
    fixture.files.before.writeContents = () => {
      if (failures-- > 0) throw refuse('DEPENDENCY_UNAVAILABLE', 'No answer.');
    };
    fixture.queueTurns(script(...PICTURE), queuedTurn('trn_1', 'Draw'));
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
    );
    const journal = fixture.sessions.journalOf('trn_1');
    expect(outcomeOf(journal)).toMatchObject(END_TURN);
    expect(dataOf(journal, 'model.request_started')).toHaveLength(1);
  });

  it('is discarded with its message when the files service stays unavailable, and the turn is tried again', async () => {
    await using fixture = await openTestRunner({ leaseMs: 600_000 });
    fixture.files.before.writeContents = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'No answer.');
    };
    fixture.queueTurns(script({ thinking: 'hm' }, ...PICTURE), queuedTurn('trn_1', 'Draw'));
    const hasOutcome = () => fixture.sessions.journalOf('trn_1').outcomes.length > 0;
    await fixture.advanceUntil('the turn has ended', hasOutcome, 500);
    const journal = fixture.sessions.journalOf('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'dependency_unavailable' } },
    });
    expect(dataOf(journal, 'agent.message_discarded')).toMatchObject([{ reason: 'files_not_stored' }]);
    expect(typesOf(journal)).not.toContain('agent.message');
    expect(journal.usage.outputTokens).toBeGreaterThan(0);
  });

  it('fails the turn by name when it exceeds the storage quota', async () => {
    await using fixture = await openTestRunner();
    fixture.files.before.writeContents = () => {
      throw refuse('QUOTA_EXCEEDED', 'The storage quota is used up.');
    };
    expect(outcomeOf(await run(fixture, ...PICTURE))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'storage_quota_exceeded', message: expect.stringContaining('limits') } },
    });
  });

  it('fails the turn by name when the answer has more than 32', async () => {
    await using fixture = await openTestRunner();
    const many = Array.from({ length: 33 }, (_, index) => file(Buffer.from([index]), 'audio/wav'));
    expect(outcomeOf(await run(fixture, ...many))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_output_too_large', message: expect.stringContaining('33') } },
    });
    expect(fixture.files.storedParts).toEqual([]);
  });

  it('is refused by name when it exceeds 64 MiB', async () => {
    await using fixture = await openTestRunner();
    const unused = () => Promise.reject(new Error('nothing is stored'));
    const options = {
      files: { writeContents: unused, storeParts: unused },
      clock: createFakeClock(),
      lease: { sessionId: 'ses_1', turnId: 'trn_1', fence: 1 },
      trace: fixture.context.tracer.begin('test', undefined).trace,
      signal: new AbortController().signal,
    };
    const content = [
      { type: 'file' as const, mediaType: 'video/mp4', data: Buffer.alloc(64 * 1024 * 1024 + 1) },
    ];
    await expect(storeFiles(content, options)).rejects.toMatchObject({
      code: 'model_output_too_large',
      message: expect.stringContaining('64 MiB'),
    });
  });
});

/** How each protocol carries an image of an earlier answer. */
const CARRIED: Record<string, object> = {
  anthropic: {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') },
  },
  openai: { type: 'input_image', image_url: `data:image/png;base64,${PNG.toString('base64')}` },
  'local-1': { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
};

describe.each(PROTOCOLS)('the request to $model after an answer with an image', (protocol) => {
  it('carries the image in a message of the user behind the answer', async () => {
    await using server = await openProvider(protocol);
    server.enqueue({ parts: [{ text: 'I see.' }] });
    await using fixture = await openTestRunner({ providers: protocol.settings(server.url) });
    const sha256 = fixture.files.putPart(PNG);
    const image = { type: 'image', media_type: 'image/png', name: 'a.png', sha256, size: PNG.length };
    const answer = { content: [{ type: 'text', text: 'Here:' }, image], message_id: 'msg_1', model: 'm' };
    const event = (seq: number, turn: string, type: string, data: object) => ({
      ...{ seq, type, json: JSON.stringify({ seq, type, turn_id: turn, data }) },
    });
    const messages = [
      event(1, 'trn_1', 'user.message', { content: [{ type: 'text', text: 'Draw' }] }),
      event(2, 'trn_1', 'agent.message', { ...answer, finish_reason: 'stop' }),
      event(3, 'trn_2', 'user.message', { content: [{ type: 'text', text: 'Describe it' }] }),
    ];
    fixture.queueTurns({ model: protocol.model }, { turnId: 'trn_2', messages });
    await until('the turn has ended', () => fixture.sessions.journalOf('trn_2').outcomes.length > 0);
    expect(outcomeOf(fixture.sessions.journalOf('trn_2'))).toMatchObject({ $case: 'completed' });
    const { body } = server.requests[0] ?? {};
    const sent = (body?.messages ?? body?.input) as { role: string; content: object[] | string }[];
    const lastOfAnswer = sent.findLastIndex(({ role }) => role === 'assistant');
    expect(JSON.stringify(sent.slice(0, lastOfAnswer + 1))).toContain(
      'image image/png 16 bytes a.png: in the next message',
    );
    const next = sent[lastOfAnswer + 1];
    expect(next?.role).toBe('user');
    expect(next?.content).toEqual(
      expect.arrayContaining([expect.objectContaining(CARRIED[protocol.name] ?? {})]),
    );
  });
});
