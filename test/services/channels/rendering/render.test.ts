import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../lib/digest.ts';
import { Actor } from '../../../../lib/event-parts.ts';
import { JournalFold } from '../../../../services/channels/rendering/journal-fold.ts';
import { parseEvent } from '../../../../services/channels/rendering/parse-event.ts';
import { renderTurn } from '../../../../services/channels/rendering/render.ts';
import type { RenderOptions } from '../../../../services/channels/rendering/render-options.ts';
import { identityOf, type WantedPost } from '../../../../services/channels/rendering/wanted-post.ts';
import { seeded } from '../../../chaos/random.ts';
import { createJournal } from './journal.ts';

const OPTIONS: RenderOptions = {
  rules: {
    maxLength: 500,
    maxParts: 5,
    lengthOf: (markdown) => markdown.length,
    disarm: (markdown) => markdown.replaceAll('@everyone', '@ everyone'),
  },
  showTools: 'status',
  edits: 'edit',
  filesOut: true,
  maxFileBytes: 100,
  consoleUrl: 'https://agents.example.com/sessions/ses_1',
  nameOf: (account) => (account === 'slack:U1' ? 'Ada' : undefined),
  digest: sha256,
};

type Journal = ReturnType<typeof createJournal>;

function render({ events }: Journal, options: Partial<RenderOptions> = {}): WantedPost[] {
  const fold = new JournalFold();
  for (const event of events) fold.apply(event);
  return [...fold.turns].flatMap((turn) => renderTurn(turn, { ...OPTIONS, ...options }));
}

const textsOf = (posts: WantedPost[]) =>
  posts.map((post) => (post.kind === 'file' ? post.key : post.markdown));

describe('the posts of a turn', () => {
  it('are one message that grows with the texts of all steps', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    expect(render(journal)).toEqual([]);
    journal.delta('trn_1', 'msg_1', 'Hel');
    expect(render(journal)).toMatchObject([{ kind: 'message', markdown: 'Hel', isFinal: false }]);
    journal.message('trn_1', 'msg_1', 'Hello.');
    journal.delta('trn_1', 'msg_2', 'And more');
    journal.end('trn_1');
    expect(render(journal)).toMatchObject([
      { turnId: 'trn_1', kind: 'message', part: 0, markdown: 'Hello.\n\nAnd more', isFinal: true },
    ]);
  });

  it('do not contain a discarded attempt', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.delta('trn_1', 'msg_1', 'wrong');
    journal.discard('trn_1', 'msg_1');
    journal.message('trn_1', 'msg_2', 'right');
    expect(textsOf(render(journal))).toEqual(['right']);
  });

  it('notify no one', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.message('trn_1', 'msg_1', 'Hello @everyone');
    expect(textsOf(render(journal))).toEqual(['Hello @ everyone']);
  });

  it('show the running tool, all tools or none', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.toolUse('trn_1', 'a', 'read_file', {});
    journal.toolResult('trn_1', 'a');
    journal.toolUse('trn_1', 'b', 'bash', {});
    expect(textsOf(render(journal))).toEqual(['_Running_ `bash` …']);
    expect(textsOf(render(journal, { showTools: 'list' }))).toEqual(['Tools: `read_file` ✓, `bash` …']);
    expect(render(journal, { showTools: 'none' })).toEqual([]);
    journal.toolResult('trn_1', 'b', 0, true);
    journal.message('trn_1', 'msg_1', 'Done.');
    journal.end('trn_1');
    expect(textsOf(render(journal))).toEqual(['Done.']);
    expect(textsOf(render(journal, { showTools: 'list' }))).toEqual([
      'Done.\n\nTools: `read_file` ✓, `bash` ✗',
    ]);
  });

  it('appear with final_only when the turn has ended', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.message('trn_1', 'msg_1', 'Hello.');
    expect(render(journal, { edits: 'final_only' })).toEqual([]);
    journal.end('trn_1');
    expect(textsOf(render(journal, { edits: 'final_only' }))).toEqual(['Hello.']);
  });

  it('are cut into parts, and into a file when there are too many', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.message('trn_1', 'msg_1', Array(12).fill('x'.repeat(90)).join('\n\n'));
    expect(render(journal).map(({ part }) => part)).toEqual([0, 1, 2]);
    journal.message('trn_1', 'msg_2', Array(30).fill('y'.repeat(90)).join('\n\n'));
    const [growing, ...none] = render(journal);
    expect(none).toEqual([]);
    expect(growing).toMatchObject({ part: 0, markdown: expect.stringMatching(/The answer continues …_$/) });
    journal.end('trn_1');
    const [head, file, ...rest] = render(journal);
    expect(rest).toEqual([]);
    expect(head).toMatchObject({
      kind: 'message',
      markdown: expect.stringMatching(/in the file answer\.md\._$/),
    });
    expect(file).toMatchObject({ kind: 'file', file: { path: 'answer.md' } });
    for (const post of render(journal))
      if (post.kind === 'message') expect(post.markdown.length).toBeLessThan(501);
  });

  it('end with files that the agent wrote, not with those of users, channels and clients of protocols', () => {
    const actors = Actor.properties.type.enum;
    expect(actors).toEqual(expect.arrayContaining(['agent', 'user', 'channel', 'mcp', 'openai', 'a2a']));
    const journal = createJournal();
    journal.begin('trn_1');
    for (const [index, actor] of actors.entries())
      journal.file(`outbox/${actor}.txt`, `sha${index}`, index + 1, 'file.created', actor);
    for (const actor of actors)
      if (actor !== 'agent') journal.file('outbox/agent.txt', '', 99, 'file.deleted', actor);
    journal.end('trn_1');
    expect(textsOf(render(journal))).toEqual([`outbox/agent.txt sha${actors.indexOf('agent')}`]);
  });

  it('end with files below outbox/ as the turn has left them', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.toolUse('trn_1', 'a', 'bash', {});
    journal.file('outbox/report.txt', 'aa', 1);
    journal.file('other.txt', 'bb', 1);
    journal.file('outbox/gone.txt', 'cc', 1);
    journal.toolResult('trn_1', 'a', 1);
    journal.file('outbox/report.txt', 'dd', 2);
    journal.file('outbox/gone.txt', '', 2, 'file.deleted');
    expect(render(journal).filter(({ kind }) => kind === 'file')).toEqual([]);
    journal.toolResult('trn_1', 'a', 2);
    journal.end('trn_1');
    expect(textsOf(render(journal))).toEqual(['outbox/report.txt dd']);
    expect(render(journal, { filesOut: false })).toEqual([]);
    expect(render(journal, { maxFileBytes: 2 })).toMatchObject([
      { kind: 'notice', markdown: expect.stringContaining('`outbox/report.txt` has 3 bytes') },
    ]);
  });

  it('contain a file whose event comes after the end of its turn', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.toolUse('trn_1', 'a', 'bash', {});
    journal.toolResult('trn_1', 'a', 4);
    journal.end('trn_1');
    journal.begin('trn_2');
    journal.file('outbox/first.txt', 'aa', 4);
    journal.file('outbox/second.txt', 'bb', 5);
    journal.end('trn_2');
    expect(render(journal).map(({ turnId, key }) => [turnId, key])).toEqual([
      ['trn_1', 'outbox/first.txt aa'],
      ['trn_2', 'outbox/second.txt bb'],
    ]);
  });

  it.each([
    ['interrupted', 'turn.interrupted', {}, 'Stopped.'],
    [
      'failed',
      'turn.failed',
      { error: { code: 'MODEL_UNAVAILABLE', message: 'secret' } },
      'The turn failed (`MODEL_UNAVAILABLE`).',
    ],
    ['cancelled', 'turn.cancelled', { reason: 'removed' }, 'This message was removed from the queue'],
  ] as const)('end with a notice when the turn was %s', (_, type, data, text) => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.add(type, { turn_id: 'trn_1', ...data }, 'trn_1');
    const [notice] = render(journal);
    expect(notice).toMatchObject({ kind: 'notice', key: 'end', turnId: 'trn_1' });
    expect(textsOf([notice!])[0]).toContain(text);
    expect(textsOf([notice!])[0]).not.toContain('secret');
  });

  it('end with a notice when the turn has reached a limit', () => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.end('trn_1');
    journal.add('session.status_idle', { stop_reason: { type: 'max_steps_reached' } });
    expect(textsOf(render(journal))[0]).toContain('limit of steps');
  });
});

describe('the post of an approval', () => {
  function ask(inputJson: string): Journal {
    const journal = createJournal();
    journal.begin('trn_1');
    const json = `{"seq":9,"type":"agent.tool_use","turn_id":"trn_1","actor":{"type":"agent","id":"agt_1"},"data":{"tool_use_id":"a","name":"pay","input":${inputJson},"evaluated_permission":"ask"}}`;
    journal.events.push(parseEvent({ type: 'agent.tool_use', json })!);
    const approval = {
      approval_id: 'apr_1',
      kind: 'tool',
      tool_use_id: 'a',
      tool_name: 'pay',
      expires_at: '',
    };
    journal.add('approval.requested', approval, 'trn_1');
    return journal;
  }

  it('shows the exact input, also numbers that JavaScript would change', () => {
    const [post] = render(ask('{"amount": 12345678901234567890.10, "to": "```"}'));
    expect(post).toMatchObject({ kind: 'approval', key: 'apr_1', isFinal: false });
    if (post?.kind !== 'approval') throw new Error('no approval');
    expect(post.approval).toMatchObject({ tool: 'pay', canAllow: true, decision: '', decidedBy: '' });
    expect(post.approval.inputJson).toContain('12345678901234567890.10');
    expect(post.markdown).toContain('````json');
  });

  it('cannot be allowed in the chat when the input is not shown whole', () => {
    for (const length of [600, 3_000]) {
      const [post] = render(ask(JSON.stringify({ text: 'x'.repeat(length) })));
      if (post?.kind !== 'approval') throw new Error('no approval');
      expect(post.approval.canAllow).toBe(false);
      expect(post.markdown.length).toBeLessThanOrEqual(500);
      expect(post.markdown).toContain(OPTIONS.consoleUrl);
    }
  });

  it('names the decision and the person', () => {
    const journal = ask('{}');
    const decided = { approval_id: 'apr_1', decision: 'allow', by: 'usr_1', via: 'slack:U1' };
    journal.add('approval.decided', decided, 'trn_1');
    const post = render(journal).find(({ kind }) => kind === 'approval');
    expect(post).toMatchObject({ isFinal: true, approval: { decision: 'allowed', decidedBy: 'Ada' } });
    expect(textsOf([post!])[0]).toContain('Allowed by Ada.');
  });

  it('is void when the turn has ended without a decision', () => {
    const journal = ask('{}');
    journal.end('trn_1', 'turn.interrupted');
    expect(render(journal)[0]).toMatchObject({ approval: { decision: 'expired' } });
  });
});

describe('the notice of a blocked turn', () => {
  it.each([
    ['outcome_unknown', {}, 'outcome of a call of `pay` is unknown'],
    [
      'authorization',
      { name: 'Bank', reason: 'not_connected', who: 'you' },
      'needs access to `Bank` (not connected)',
    ],
    ['input', { name: 'Bank', message: 'Which account?' }, '`Bank` asks for input: Which account?'],
    ['something_new', {}, 'The turn waits for a decision.'],
  ])('names the reason of an approval of kind %s and links to the console', (kind, details, text) => {
    const journal = createJournal();
    journal.begin('trn_1');
    const approval = {
      approval_id: 'apr_1',
      kind,
      tool_use_id: 'a',
      tool_name: 'pay',
      details,
      expires_at: '',
    };
    journal.add('approval.requested', approval, 'trn_1');
    journal.block('trn_1', kind);
    const [notice] = render(journal);
    expect(notice).toMatchObject({ kind: 'notice', key: 'apr_1', isFinal: false });
    expect(textsOf([notice!])[0]).toContain(text);
    expect(textsOf([notice!])[0]).toContain(OPTIONS.consoleUrl);
    journal.add('approval.decided', { approval_id: 'apr_1', decision: 'retry', by: 'usr_1' }, 'trn_1');
    expect(textsOf(render(journal))[0]).toContain('This was answered.');
  });

  it.each([
    ['input', { question: 'Tea or coffee?' }, 'The agent asks: Tea or coffee?'],
    ['tool_result', {}, 'The turn waits for the result of `ask`.'],
  ])('names the call of kind %s', (kind, input, text) => {
    const journal = createJournal();
    journal.begin('trn_1');
    journal.toolUse('trn_1', 'a', 'ask', input, kind);
    journal.block('trn_1', kind);
    expect(textsOf(render(journal))[0]).toContain(text);
    expect(textsOf(render(journal))[0]).toContain(OPTIONS.consoleUrl);
  });
});

describe('folding', () => {
  it('ignores a turn that was queued before the first event', () => {
    const journal = createJournal();
    journal.message('trn_0', 'msg_0', 'old');
    journal.end('trn_0');
    journal.begin('trn_1');
    journal.message('trn_1', 'msg_1', 'new');
    expect(textsOf(render(journal))).toEqual(['new']);
  });

  it('ends in the same posts, whichever prefixes were shown', () => {
    for (let seed = 1; seed <= 150; seed++) {
      const { events } = randomJournal(seed);
      const whole = render({ events } as Journal);
      const fold = new JournalFold();
      const shown = new Map<string, string>();
      const random = seeded(seed * 31);
      for (const event of events) {
        fold.apply(event);
        if (random() < 0.5) show(fold, shown);
      }
      show(fold, shown);
      expect([...shown].toSorted()).toEqual(
        whole.map((post) => [identityOf(post), JSON.stringify(post)] as const).toSorted(),
      );
    }
  });
});

/** Makes a product with these posts agree with the fold, as a publisher does. */
function show(fold: JournalFold, shown: Map<string, string>): void {
  const wanted = [...fold.turns].flatMap((turn) => renderTurn(turn, OPTIONS));
  for (const post of wanted) shown.set(identityOf(post), JSON.stringify(post));
  const kept = new Set(wanted.map(identityOf));
  for (const identity of shown.keys())
    if (identity.includes(' message ') && !kept.has(identity)) shown.delete(identity);
}

function randomJournal(seed: number): Journal {
  const random = seeded(seed);
  const journal = createJournal();
  const chance = (share: number) => random() < share;
  for (let turn = 1; turn <= 3; turn++) {
    const turnId = `trn_${turn}`;
    journal.begin(turnId);
    let version = turn * 100;
    for (let step = 0; step < 4; step++) {
      const messageId = `msg_${turn}_${step}`;
      const words = Array.from({ length: Math.floor(random() * 400) }, (_, index) =>
        index % 9 ? 'word ' : '\n\n',
      );
      for (let at = 0; at < words.length; at += 40)
        journal.delta(turnId, messageId, words.slice(at, at + 40).join(''));
      if (chance(0.3)) {
        journal.discard(turnId, messageId);
        continue;
      }
      journal.message(turnId, messageId, words.join(''));
      const toolUseId = `tool_${turn}_${step}`;
      journal.toolUse(turnId, toolUseId, 'bash', { step });
      if (chance(0.3)) {
        const approval = {
          approval_id: `apr_${turn}_${step}`,
          kind: 'tool',
          tool_use_id: toolUseId,
          tool_name: 'bash',
          expires_at: '',
        };
        journal.add('approval.requested', approval, turnId);
        journal.block(turnId, 'tool_approval');
        if (chance(0.7))
          journal.add(
            'approval.decided',
            { approval_id: approval.approval_id, decision: 'deny', by: 'usr_1' },
            turnId,
          );
        journal.add('turn.started', { turn_id: turnId, attempt: 2, fence: 2 }, turnId);
      }
      if (chance(0.5)) journal.file(`outbox/${Math.floor(random() * 3)}.txt`, `sha${step}`, ++version);
      journal.toolResult(turnId, toolUseId, version);
    }
    journal.end(turnId, chance(0.2) ? 'turn.interrupted' : 'turn.completed');
  }
  return journal;
}
