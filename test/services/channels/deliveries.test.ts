import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { DeliveryWork } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { Session, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { uniqueNames } from '../../../services/channels/deliveries/inbox-files.ts';
import { until } from '../../support/wait.ts';
import { CONFIG, deliveryWork, PLACE } from './fake-deployments.ts';
import { type ChannelsSystem, openChannelsSystem } from './system.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function open(options?: Parameters<typeof openChannelsSystem>[0]): Promise<ChannelsSystem> {
  return stack.use(await openChannelsSystem(options));
}

async function deliver(system: ChannelsSystem, work: DeliveryWork) {
  const count = system.deployments.finished.length;
  system.deployments.deliveries.push(work);
  return until('the delivery is finished', () => system.deployments.finished[count]);
}

const file = (name: string, content: string, url = '') => ({
  ...{ fileId: '', name, url, size: 0, mediaType: '' },
  content: Buffer.from(content),
});

describe('a message', () => {
  it('starts an idle session and sends one turn, as the owner and with its sender', async () => {
    const system = await open();
    const finished = await deliver(system, deliveryWork({ text: 'Hello' }));
    const actor = {
      type: 'channel',
      deploymentId: 'dep_1',
      runId: '',
      deliveryId: 'dlv_01JDELIVERY0000000000000A1',
    };
    expect(system.created).toMatchObject([
      { agentId: 'agt_1', agentVersion: 3, ownerId: 'usr_1', text: '', deploymentId: 'dep_1', actor },
    ]);
    expect(system.sent).toMatchObject([
      {
        sessionId: 'ses_new',
        contentJson: '[{"type":"text","text":"Hello"}]',
        busyPolicy: 'enqueue',
        actor,
        sender: { provider: 'http', externalId: 'U1', name: 'Ada', userId: 'usr_1', group: false },
      },
    ]);
    expect(finished).toMatchObject({
      result: 'accepted',
      sessionId: 'ses_new',
      turnId: 'trn_1',
      ownerId: 'usr_1',
    });
    expect([...system.callers]).toEqual(['usr_1']);
  });

  it('goes to the session of its conversation, by the busy policy of the channel', async () => {
    const system = await open({ channel: { config: { ...CONFIG, busy: 'interrupt' } } });
    const place = { ...PLACE, isGroup: true };
    await deliver(system, deliveryWork({ text: 'Hello', place }, { sessionId: 'ses_1' }));
    expect(system.created).toEqual([]);
    expect(system.sent).toMatchObject([
      { sessionId: 'ses_1', busyPolicy: 'interrupt', sender: { group: true } },
    ]);
  });

  it.each([
    ['SESSION_ARCHIVED', 'archived'],
    ['SESSION_TERMINATED', 'terminated'],
    ['SESSION_NOT_FOUND', 'deleted'],
  ] as const)('starts a new session with a notice after %s', async (code, reason) => {
    const system = await open({
      sessions: {
        async sendMessage({ sessionId }) {
          if (sessionId === 'ses_1') throw refuse(code, 'over');
          return { turnId: 'trn_2', seq: 1, replayed: false };
        },
      },
    });
    const finished = await deliver(system, deliveryWork({ text: 'Hello' }, { sessionId: 'ses_1' }));
    expect(finished).toMatchObject({ result: 'accepted', sessionId: 'ses_new', turnId: 'trn_2' });
    expect(finished.notices).toMatchObject([{ text: expect.stringContaining(`was ${reason}`) }]);
  });

  it('waits with a notice while the queue of the session is held', async () => {
    const system = await open({
      sessions: {
        async sendMessage() {
          throw refuse('SESSION_BUSY', 'held');
        },
      },
    });
    const finished = await deliver(system, deliveryWork({ text: 'Hello' }, { sessionId: 'ses_1' }));
    expect(finished).toMatchObject({ result: 'retry', isWaiting: true, notices: [{ key: 'held' }] });
  });

  it('is refused with a notice without quota', async () => {
    const system = await open({
      sessions: {
        async createSession() {
          throw refuse('QUOTA_EXCEEDED', 'no quota');
        },
      },
    });
    const finished = await deliver(system, deliveryWork({ text: 'Hello' }));
    expect(finished).toMatchObject({
      result: 'refused',
      reason: 'quota_exceeded',
      notices: [{ key: 'quota' }],
    });
  });

  it('is tried again when a service is unavailable', async () => {
    const system = await open({
      sessions: {
        async createSession() {
          throw refuse('DEPENDENCY_UNAVAILABLE', 'down');
        },
      },
    });
    const finished = await deliver(system, deliveryWork({ text: 'Hello' }));
    expect(finished).toMatchObject({ result: 'retry', isWaiting: false, notices: [] });
  });

  it.each([
    [{ accessRefusal: 'not_linked' }, { reason: 'not_linked', offerLink: true }],
    [{ ownerId: '' }, { reason: 'owner_not_linked', offerLink: true }],
    [{ accessRefusal: 'no_access' }, { reason: 'no_access', notices: [{ isPrivate: true }] }],
  ])('of a sender with %j is refused', async (work, outcome) => {
    const system = await open();
    const finished = await deliver(system, deliveryWork({ text: 'Hello' }, work));
    expect(finished).toMatchObject({ result: 'refused', ...outcome });
    expect(system.created).toEqual([]);
  });

  it('without text and files is ignored', async () => {
    const system = await open();
    expect(await deliver(system, deliveryWork({ text: ' ' }))).toMatchObject({ result: 'ignored' });
  });
});

describe('the files of a message', () => {
  const PNG = '\x89PNG\r\n\x1a\nrest';

  it('are written below inbox/ and attached by path', async () => {
    const system = await open();
    const files = [
      { ...file('photo.png', ''), content: Buffer.from(PNG, 'latin1') },
      file('../notes.txt', 'some notes'),
    ];
    await deliver(system, deliveryWork({ text: 'Look', files }));
    expect([...system.files.keys()]).toEqual(['inbox/000000a1/photo.png', 'inbox/000000a1/_notes.txt']);
    expect(system.files.get('inbox/000000a1/_notes.txt')).toBe('some notes');
    expect(JSON.parse(system.sent[0]!.contentJson)).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image', media_type: 'image/png', name: 'photo.png' },
      { type: 'file', name: '_notes.txt' },
    ]);
    expect(system.sent[0]!.attachments?.attachments.map(({ source }) => source?.value)).toEqual([
      'inbox/000000a1/photo.png',
      'inbox/000000a1/_notes.txt',
    ]);
  });

  it('are named with the reason when they are too large or at a private address, and the turn starts', async () => {
    const system = await open({ env: { SERVICE_CHANNEL_FILE_MAX_BYTES: '5' } });
    const files = [file('big.bin', '123456'), file('local.txt', '', 'https://127.0.0.1/secret')];
    const finished = await deliver(system, deliveryWork({ text: 'Look', files }));
    expect(finished.result).toBe('accepted');
    const [part, ...others] = JSON.parse(system.sent[0]!.contentJson);
    expect(others).toEqual([]);
    expect(part.text).toContain('"big.bin" was not received. The file has more than 5 bytes.');
    expect(part.text).toContain('"local.txt" was not received.');
    expect(system.files.size).toBe(0);
  });

  it('are named as text when the model does not take them', async () => {
    const attempts: string[] = [];
    const system = await open({
      sessions: {
        async sendMessage({ contentJson }) {
          attempts.push(contentJson);
          if (contentJson.includes('"file"'))
            throw refuse('CONTENT_NOT_SUPPORTED', 'no', {
              details: [{ pointer: '/content/1', message: 'no' }],
            });
          return { turnId: 'trn_1', seq: 1, replayed: false };
        },
      },
    });
    await deliver(system, deliveryWork({ text: 'Look', files: [file('a.bin', 'abc')] }));
    expect(JSON.parse(attempts.at(-1)!)).toEqual([
      { type: 'text', text: 'Look\n[File: inbox/000000a1/a.bin (3 bytes)]' },
    ]);
  });

  it('get different names without separators', () => {
    expect(uniqueNames(['a/b.txt', 'a_b.txt', '..', '', 'x'.repeat(200)])).toEqual([
      'a_b.txt',
      'a_b 2.txt',
      'file',
      'file 2',
      'x'.repeat(100),
    ]);
  });
});

describe('a command', () => {
  const command = (name: string, work: Partial<DeliveryWork> = {}) =>
    deliveryWork({ kind: 'command', command: name }, { sessionId: 'ses_1', ...work });

  it('new detaches the session', async () => {
    const system = await open();
    expect(await deliver(system, command('new'))).toMatchObject({ result: 'accepted', detachSession: true });
  });

  it('link offers a link, unlink ends it, and help needs no access', async () => {
    const system = await open();
    const stranger = { userId: '', accessRefusal: 'not_linked' };
    expect(await deliver(system, command('link', stranger))).toMatchObject({
      result: 'accepted',
      offerLink: true,
    });
    expect(await deliver(system, command('unlink'))).toMatchObject({ removeLink: true });
    expect(await deliver(system, command('help', stranger))).toMatchObject({
      result: 'accepted',
      notices: [{ text: expect.stringContaining('/stop') }],
    });
    expect(await deliver(system, command('new', stranger))).toMatchObject({ result: 'refused' });
  });

  it('status names the state and links to the console', async () => {
    const session = { ...Session.decode(new Uint8Array()), state: 'needs_approval', queuedTurns: 2 };
    const system = await open({ sessions: { getSession: async () => ({ session }) } });
    const { notices } = await deliver(system, command('status'));
    expect(notices[0]?.text).toBe(
      'Echo: needs approval, 2 waiting. [Open the session in the console](https://agents.example.com/sessions/ses_1)',
    );
  });

  const TURNS = [
    { ...Turn.decode(new Uint8Array()), turnId: 'trn_1', status: 'in_progress' },
    { ...Turn.decode(new Uint8Array()), turnId: 'trn_2', status: 'queued' },
  ];

  async function openWithTurns(initiator: string) {
    const calls: string[] = [];
    const json = JSON.stringify({ turn_id: 'trn_1', data: { sender: { external_id: initiator } } });
    const system = await open({
      sessions: {
        listTurns: async () => ({ turns: TURNS, page: undefined }),
        listEvents: async () => ({ events: [{ seq: 1, type: 'user.message', json }], page: undefined }),
        async cancelTurn({ turnId }) {
          calls.push(`cancel ${turnId}`);
          return {};
        },
        async interruptSession({ turnId }) {
          calls.push(`interrupt ${turnId}`);
          return { session: undefined };
        },
      },
    });
    return { system, calls };
  }

  it('stop interrupts the turn and removes those behind it, for approvers and the initiator', async () => {
    for (const [initiator, isApprover] of [
      ['U1', false],
      ['U2', true],
    ] as const) {
      const { system, calls } = await openWithTurns(initiator);
      expect(await deliver(system, command('stop', { isApprover }))).toMatchObject({ result: 'accepted' });
      expect(calls).toEqual(['cancel trn_2', 'interrupt trn_1']);
    }
  });

  it('stop is refused to others', async () => {
    const { system, calls } = await openWithTurns('U2');
    expect(await deliver(system, command('stop'))).toMatchObject({
      result: 'refused',
      reason: 'not_an_approver',
    });
    expect(calls).toEqual([]);
  });
});

describe('a click', () => {
  const click = () => deliveryWork({ kind: 'action', approvalId: 'apr_1', decision: 'allow' });

  it('decides the approval', async () => {
    const system = await open();
    expect(await deliver(system, click())).toMatchObject({
      result: 'accepted',
      notices: [{ text: 'You have allowed the call.', isPrivate: true }],
    });
  });

  it('gets the first decision when the approval was decided before', async () => {
    const system = await open();
    system.deployments.decision = {
      outcome: 'already_decided',
      reason: '',
      decision: 'deny',
      decidedBy: 'Bob',
    };
    expect(await deliver(system, click())).toMatchObject({
      result: 'accepted',
      notices: [{ text: 'Bob has already denied the call.' }],
    });
  });

  it.each([
    ['not_linked', { offerLink: true }],
    ['not_an_approver', { offerLink: false }],
  ])('of a person who is %s is refused', async (reason, outcome) => {
    const system = await open();
    system.deployments.decision = { outcome: 'refused', reason, decision: '', decidedBy: '' };
    expect(await deliver(system, click())).toMatchObject({ result: 'refused', reason, ...outcome });
  });
});
