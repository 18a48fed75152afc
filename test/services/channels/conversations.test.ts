import { afterEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../../lib/digest.ts';
import type { PostNote } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { until } from '../../support/wait.ts';
import { conversationWork, postState } from './fake-deployments.ts';
import { createJournal } from './rendering/journal.ts';
import { type ChannelsSystem, openChannelsSystem } from './system.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function open(): Promise<ChannelsSystem> {
  return stack.use(await openChannelsSystem());
}

const notesOf = ({ deployments }: ChannelsSystem): PostNote[] =>
  deployments.notes.flatMap(({ posts }) => posts);
const lastText = (system: ChannelsSystem) => notesOf(system).at(-1)?.content?.text;

describe('a conversation of a channel whose posts are pulled', () => {
  it('follows the session as its owner and stores growing revisions of one post', async () => {
    const system = await open();
    const journal = createJournal();
    journal.begin('trn_1');
    journal.delta('trn_1', 'msg_1', 'Hel');
    system.append(...journal.events.splice(0));
    system.deployments.conversations.push(conversationWork());
    await until('the beginning is stored', () => lastText(system) === 'Hel');
    journal.message('trn_1', 'msg_1', 'Hello.');
    journal.end('trn_1');
    system.append(...journal.events.splice(0));
    await until('the lease is released', () => system.deployments.released[0]);
    expect(notesOf(system).at(-1)).toMatchObject({
      turnId: 'trn_1',
      kind: 'message',
      state: 'posted',
      content: { text: 'Hello.', final: true, kind: 'message', conversation: 'room', sessionId: 'ses_1' },
    });
    expect(system.deployments.released).toMatchObject([
      { lease: { conversation: 'room', fence: 1 }, toldSeq: 5 },
    ]);
    expect([...system.callers]).toEqual(['usr_1']);
  });

  it('writes nothing that is stored already, and continues after the seq that is told', async () => {
    const system = await open();
    const journal = createJournal();
    journal.begin('trn_1');
    journal.message('trn_1', 'msg_1', 'Hello.');
    journal.end('trn_1');
    system.append(...journal.events);
    const shownSha256 = sha256(JSON.stringify(['Hello.', null, true]));
    const post = postState({ turnId: 'trn_1', kind: 'message', state: 'posted', shownSha256 });
    system.deployments.conversations.push(conversationWork({ posts: [post] }));
    await until('the lease is released', () => system.deployments.released[0]);
    expect(system.deployments.notes).toEqual([]);
  });

  it('keeps the beginning of a turn that waits, so that the next worker folds it again', async () => {
    const system = await open();
    const journal = createJournal();
    journal.begin('trn_1');
    journal.message('trn_1', 'msg_1', 'Hello.');
    journal.end('trn_1');
    journal.begin('trn_2');
    journal.toolUse('trn_2', 'a', 'pay', { amount: 5 });
    const approval = {
      approval_id: 'apr_1',
      kind: 'tool',
      tool_use_id: 'a',
      tool_name: 'pay',
      expires_at: '',
    };
    journal.add('approval.requested', approval, 'trn_2');
    journal.block('trn_2', 'tool_approval');
    system.append(...journal.events);
    system.deployments.conversations.push(conversationWork());
    await until('the lease is released', () => system.deployments.released[0]);
    expect(system.deployments.released[0]).toMatchObject({ toldSeq: 4 });
    expect(notesOf(system).at(-1)?.content).toMatchObject({
      kind: 'approval',
      approval: { approvalId: 'apr_1', tool: 'pay', canAllow: true, decision: '' },
    });
  });

  it('posts stored notices, also those that come while it is held', async () => {
    const system = await open();
    const notice = (postId: string, text: string) => postState({ postId, text, key: `key ${postId}` });
    const work = { sessionId: '', ownerId: '' };
    system.deployments.conversations.push(conversationWork({ ...work, posts: [notice('pst_8', 'First.')] }));
    await until('the first notice is stored', () => lastText(system) === 'First.');
    system.deployments.conversations.push(
      conversationWork({ ...work, posts: [notice('pst_8', 'First.'), notice('pst_9', 'Second.')] }),
    );
    await until('the second notice is stored', () => lastText(system) === 'Second.');
    await until('the lease is released', () => system.deployments.released[0]);
    expect(notesOf(system).map(({ postId }) => postId)).toEqual(['pst_8', 'pst_9']);
  });

  it('reports nothing after the lease was lost', async () => {
    const system = await open();
    const journal = createJournal();
    journal.begin('trn_1');
    journal.delta('trn_1', 'msg_1', 'Hel');
    system.append(...journal.events.splice(0));
    system.deployments.conversations.push(conversationWork());
    await until('the beginning is stored', () => lastText(system) === 'Hel');
    system.deployments.lost.add('room');
    system.context.bus.publish('channels.changed', 'dep_1');
    await until('the lease is renewed', () => system.deployments.renewed.length > 0);
    journal.end('trn_1');
    system.append(...journal.events);
    await system.module.drain?.();
    expect(system.deployments.notes).toHaveLength(1);
    expect(system.deployments.released).toEqual([]);
  });

  it('releases its lease when the worker stops in the middle of a turn', async () => {
    const system = await open();
    const journal = createJournal();
    journal.begin('trn_1');
    journal.delta('trn_1', 'msg_1', 'Hel');
    system.append(...journal.events);
    system.deployments.conversations.push(conversationWork());
    await until('the beginning is stored', () => lastText(system) === 'Hel');
    await system.module.drain?.();
    expect(system.deployments.released).toMatchObject([{ toldSeq: 0 }]);
  });
});

describe('a channel worker', () => {
  it('claims no more conversations than it has slots', async () => {
    const system = stack.use(await openChannelsSystem({ env: { SERVICE_CHANNELS_SLOTS: '1' } }));
    const journal = createJournal();
    journal.begin('trn_1');
    system.append(...journal.events);
    system.deployments.conversations.push(conversationWork(), conversationWork({ conversation: 'other' }));
    await until('a claim has no capacity for conversations', () =>
      system.deployments.claims.some(({ conversations }) => conversations === 0),
    );
    expect(system.deployments.conversations).toHaveLength(1);
  });

  it('claims nothing with 0 slots', async () => {
    const system = stack.use(await openChannelsSystem({ env: { SERVICE_CHANNELS_SLOTS: '0' } }));
    await system.module.check?.();
    expect(system.deployments.claims).toEqual([]);
  });

  it('answers probes, and reports a channel whose product it does not have', async () => {
    const system = await open();
    system.deployments.probes.push({ probeId: 'prb_1', deploymentId: 'dep_1' });
    await until('the probe is reported', () => system.deployments.probeReports[0]);
    expect(system.deployments.probeReports).toMatchObject([{ probeId: 'prb_1', checks: [] }]);
    const other = stack.use(await openChannelsSystem({ channel: { provider: 'pigeon' } }));
    other.deployments.connections.push({
      deploymentId: 'dep_1',
      fence: 7,
      remove: false,
      resumeState: undefined,
    });
    const report = await until('the failure is reported', () => other.deployments.connectionReports[0]);
    expect(report).toMatchObject({ fence: 7, state: 'failed', error: expect.stringContaining('pigeon') });
  });
});
