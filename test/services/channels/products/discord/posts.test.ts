import { describe, expect, it } from 'vitest';
import {
  messageContent,
  newMessage,
  nonceOf,
  referenceOf,
} from '../../../../../services/channels/products/discord/content.ts';
import {
  isFileUrl,
  isGatewayUrl,
  restApiUrl,
} from '../../../../../services/channels/products/discord/hosts.ts';
import { discordRules } from '../../../../../services/channels/products/discord/rules.ts';
import { decisionInText } from '../../../../../services/deployments/channels/products/decisions.ts';

const APPROVAL = {
  approvalId: 'apr_01K0000000000000000000000A',
  tool: 'bash',
  inputJson: '{}',
  canAllow: true,
  decision: '',
  decidedBy: '',
  consoleUrl: 'https://agents.example.com/sessions/ses_1',
};
const API = 'https://discord.com/api';

interface Button {
  label: string;
  custom_id?: string;
  url?: string;
}

function buttonsOf(approval: Partial<typeof APPROVAL>): Button[] {
  const { components } = messageContent({ markdown: 'Run?', approval: { ...APPROVAL, ...approval } });
  return (components as { components: Button[] }[]).flatMap((row) => row.components);
}

describe('messageContent of Discord', () => {
  it('offers both decisions with custom ids that the parser of clicks reads', () => {
    const buttons = buttonsOf({});
    expect(buttons.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
    expect(buttons.map(({ custom_id }) => decisionInText(custom_id ?? ''))).toEqual([
      { decision: 'allow', approvalId: APPROVAL.approvalId },
      { decision: 'deny', approvalId: APPROVAL.approvalId },
    ]);
  });

  it('links to the console for an input that is not shown whole, and has no buttons after the decision', () => {
    expect(buttonsOf({ canAllow: false }).map(({ label, url }) => url ?? label)).toEqual([
      APPROVAL.consoleUrl,
      'Deny',
    ]);
    expect(buttonsOf({ canAllow: false, consoleUrl: '' }).map(({ label }) => label)).toEqual(['Deny']);
    expect(buttonsOf({ decision: 'denied' })).toEqual([]);
  });

  it('notifies no person, and is at most as long as Discord permits', () => {
    const { content, allowed_mentions } = messageContent({ markdown: 'a'.repeat(3000), approval: undefined });
    expect(content).toHaveLength(2000);
    expect(allowed_mentions).toEqual({ parse: [] });
  });
});

describe('referenceOf', () => {
  const place = { place: '1', thread: '2', isGroup: true };
  const reply = (messageId: string) => referenceOf({ place, replyTo: { messageId, place: '1' } });

  it('names a message of the thread, also a deleted one, and not the one from which the thread was made', () => {
    expect(reply('3')).toEqual({ message_reference: { message_id: '3', fail_if_not_exists: false } });
    expect(reply('2')).toEqual({});
  });
});

describe('nonceOf', () => {
  it('differs for posts and their revisions, and has at most 25 characters', () => {
    const post = { postId: 'pst_01K0000000000000000000000A', revision: 1 };
    const others = [
      { ...post, postId: 'pst_01K0000000000000000000000B' },
      { ...post, postId: 'pst_01M0000000000000000000000A' },
      { ...post, revision: 2 },
    ];
    const nonces = [post, ...others].map(nonceOf);
    expect(new Set(nonces).size).toBe(4);
    expect(nonces.every((nonce) => nonce.length <= 25)).toBe(true);
    const message = newMessage({ ...post, markdown: 'Hello', approval: undefined });
    expect(message).toMatchObject({ nonce: nonces[0], enforce_nonce: true });
  });
});

describe('discordRules', () => {
  it('disarms mentions of everyone, users and roles, and leaves addresses', () => {
    const { disarm } = discordRules;
    expect(disarm('@everyone @here <@12345678> <@!12345678> <@&12345678>')).not.toMatch(
      /@(everyone|here|[!&]?\d)/,
    );
    expect(disarm('ada@example.com @ada')).toBe('ada@example.com @ada');
  });

  it.each([
    ['#### Title ####', '**Title**'],
    ['# Title', '# Title'],
    ['![a plot](https://example.com/a.png)', '[a plot](https://example.com/a.png)'],
    ['***', '───'],
    ['```\n#### no title\n```', '```\n#### no title\n```'],
    ['`![a](b)`', '`![a](b)`'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', '```\n| a | b |\n|---|---|\n| 1 | 2 |\n```'],
    [' \u200b ', '…'],
  ])('converts %j to %j and counts the result', (markdown, expected) => {
    expect(messageContent({ markdown, approval: undefined }).content).toBe(expected);
    expect(discordRules.lengthOf(markdown)).toBe(expected.length);
  });

  it('converts a long line of signs in linear time', () => {
    for (const sign of ['-', '*', '_', '|', '`', '![', '|-'])
      expect(discordRules.lengthOf(sign.repeat(20_000))).toBeGreaterThan(0);
  }, 5_000);
});

describe('addresses of Discord', () => {
  it('completes the base URL of the REST API', () => {
    expect(restApiUrl(undefined)).toBe(API);
    expect(restApiUrl('http://127.0.0.1:1234')).toBe('http://127.0.0.1:1234/api');
    expect(restApiUrl('http://127.0.0.1:1234/api/')).toBe('http://127.0.0.1:1234/api');
  });

  it.each([
    ['wss://gateway.discord.gg', true],
    ['wss://gateway-us-east1-b.discord.gg', true],
    ['ws://gateway.discord.gg', false],
    ['wss://gateway.discord.gg:8443', false],
    ['wss://discord.gg.example.org', false],
    ['wss://notdiscord.gg', false],
    ['wss://user@gateway.discord.gg', false],
    ['wss://10.0.0.1', false],
    ['no url', false],
  ])('accepts the gateway %s: %s', (url, expected) => {
    expect(isGatewayUrl(url, API)).toBe(expected);
  });

  it('accepts the configured host, without encryption only if it is configured so', () => {
    expect(isGatewayUrl('ws://127.0.0.1:1234/gateway', 'http://127.0.0.1:1234/api')).toBe(true);
    expect(isGatewayUrl('ws://bot.example.com/gateway', 'https://bot.example.com/api')).toBe(false);
    expect(isFileUrl('http://127.0.0.1:1234/cdn/a', 'http://127.0.0.1:1234/api')).toBe(true);
    expect(isFileUrl('http://127.0.0.1:1235/cdn/a', 'http://127.0.0.1:1234/api')).toBe(false);
    expect(isFileUrl('https://cdn.discordapp.com/attachments/1/2/a.txt?ex=1', API)).toBe(true);
    expect(isFileUrl('https://cdn.discordapp.com.example.org/a', API)).toBe(false);
  });
});
