import { describe, expect, it } from 'vitest';
import type { PostApproval } from '../../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { contentOf } from '../../../../../services/channels/products/slack/content.ts';
import { disarm } from '../../../../../services/channels/products/slack/disarm.ts';
import { isSlackUrl, webApiUrl } from '../../../../../services/channels/products/slack/hosts.ts';
import { toMrkdwn } from '../../../../../services/channels/products/slack/mrkdwn.ts';
import { scopeChecks } from '../../../../../services/channels/products/slack/probe.ts';
import { slackRules } from '../../../../../services/channels/products/slack/rules.ts';

const APPROVAL: PostApproval = {
  approvalId: 'apr_1',
  tool: 'deploy',
  inputJson: '{\n  "note": "```<!channel> & co"\n}',
  canAllow: true,
  decision: '',
  decidedBy: '',
  consoleUrl: 'https://agents.example.org/sessions/ses_1',
};
const buttonsOf = (approval: PostApproval) => {
  const content = contentOf({ approval, markdown: '' });
  const blocks = 'blocks' in content ? content.blocks : [];
  return blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
};

describe('Slack: mentions in Markdown', () => {
  it.each([
    ['Hi <!channel>, <!here|here>', 'Hi &lt;!channel>, &lt;!here|here>'],
    ['<@U0123ABC> and <!subteam^S1|@team>', '&lt;@U0123ABC> and &lt;!subteam^S1|@team>'],
    ['`<!everyone>` <!everyone>', '`<\u200b!everyone>` &lt;!everyone>'],
    ['```\n<!channel>\n```\n<!channel>', '```\n<\u200b!channel>\n```\n&lt;!channel>'],
    ['~~~\n<!channel>', '~~~\n<\u200b!channel>'],
    ['<!DOCTYPE html> List<@NonNull T> <https://a.org|a> a@b.org', undefined],
  ])('disarms %j', (markdown, expected) => {
    expect(disarm(markdown)).toBe(expected ?? markdown);
    expect(disarm(disarm(markdown))).toBe(expected ?? markdown);
  });

  it('counts the characters of Markdown up to the limit of Slack', () => {
    expect(slackRules.lengthOf('grüße')).toBe(5);
    expect(slackRules.maxLength).toBe(12_000);
  });
});

describe('Slack: content of posts', () => {
  it('sends messages and notices as Markdown, and never an empty text', () => {
    expect(contentOf({ approval: undefined, markdown: '**a**' })).toEqual({ markdown_text: '**a**' });
    expect(contentOf({ approval: undefined, markdown: ' ' })).toEqual({ markdown_text: '…' });
  });

  it('shows the exact input of an approval as literal text, with buttons whose value is the approval', () => {
    const content = contentOf({ approval: APPROVAL, markdown: '' });
    expect(content).toMatchObject({
      blocks: [
        {
          type: 'rich_text',
          elements: [
            { type: 'rich_text_section' },
            { type: 'rich_text_preformatted', elements: [{ type: 'text', text: APPROVAL.inputJson }] },
          ],
        },
        { type: 'actions' },
      ],
    });
    expect(buttonsOf(APPROVAL).map(({ action_id, value }) => [action_id, value])).toEqual([
      ['allow', 'apr_1'],
      ['deny', 'apr_1'],
    ]);
  });

  it('links to the console instead of allowing an input that is not whole', () => {
    const buttons = buttonsOf({ ...APPROVAL, canAllow: false });
    expect(buttons.map(({ action_id, url }) => [action_id, url])).toEqual([
      ['console', APPROVAL.consoleUrl],
      ['deny', undefined],
    ]);
    expect(buttonsOf({ ...APPROVAL, canAllow: false, consoleUrl: '' })).toHaveLength(1);
  });

  it.each([
    ['allowed', 'Ada <!here>', 'Allowed by Ada <!here>.', 'Allowed by Ada &lt;!here&gt;.'],
    ['denied', '', 'Denied.', 'Denied.'],
    ['expired', '', 'No decision was made in time.', 'No decision was made in time.'],
  ])('replaces the buttons by the decision %s', (decision, decidedBy, shown, notification) => {
    const approval = { ...APPROVAL, decision, decidedBy };
    expect(buttonsOf(approval)).toEqual([]);
    const content = contentOf({ approval, markdown: '' });
    const [block] = 'blocks' in content ? content.blocks : [];
    expect(block?.elements.at(-1)).toMatchObject({ elements: [{ text: shown }] });
    expect(content).toMatchObject({ text: expect.stringContaining(notification) });
  });

  it('keeps the notification of an approval short', () => {
    const content = contentOf({ approval: { ...APPROVAL, tool: 'ü&'.repeat(4_000) }, markdown: '' });
    expect(Buffer.byteLength('text' in content ? content.text : '')).toBeLessThan(4_000);
  });

  it('converts links and bold text for response URLs, and escapes the rest', () => {
    expect(toMrkdwn('**Open** [the <page>](https://a.org/x?y=1&z=2) <!channel>')).toBe(
      '*Open* <https://a.org/x?y=1&amp;z=2|the &lt;page&gt;> &lt;!channel&gt;',
    );
  });
});

describe('Slack: addresses', () => {
  const api = webApiUrl(undefined);

  it('completes the base URL', () => {
    expect(api).toBe('https://slack.com/api/');
    expect(webApiUrl('http://127.0.0.1:9')).toBe('http://127.0.0.1:9/api/');
    expect(webApiUrl('http://127.0.0.1:9/api')).toBe('http://127.0.0.1:9/api/');
  });

  it.each([
    ['wss://wss-primary.slack.com/link/?ticket=1', true],
    ['https://files.slack.com/files-pri/T1-F1/a.txt', true],
    ['http://files.slack.com/a', false],
    ['https://slack.com.example.org/a', false],
    ['https://notslack.com/a', false],
    ['https://user@slack.com/a', false],
    ['https://files.slack.com:8443/a', false],
    ['not a URL', false],
  ])('decides whether %s leads to Slack', (url, expected) => {
    expect(isSlackUrl(url, api)).toBe(expected);
  });

  it('trusts the configured host alone without encryption', () => {
    expect(isSlackUrl('ws://127.0.0.1:9/link', 'http://127.0.0.1:9/api/')).toBe(true);
    expect(isSlackUrl('ws://127.0.0.1:8/link', 'http://127.0.0.1:9/api/')).toBe(false);
    expect(isSlackUrl('http://slack.example.org/', 'https://slack.example.org/api/')).toBe(false);
  });
});

describe('Slack: checks of scopes', () => {
  it('names each missing scope', () => {
    const checks = scopeChecks(['chat:write'], ['chat:write', 'commands', 'files:read']);
    expect(checks.map(({ ok, problem }) => [ok, /scope (\S+) is/.exec(problem)?.[1]])).toEqual([
      [false, 'commands'],
      [false, 'files:read'],
    ]);
    expect(scopeChecks(['chat:write'], ['chat:write'])).toEqual([{ name: 'scope', ok: true, problem: '' }]);
    expect(scopeChecks(undefined, [])).toMatchObject([{ ok: false }]);
  });
});
