import { describe, expect, it } from 'vitest';
import { keyboardOf } from '../../../../../services/channels/products/telegram/keyboard.ts';
import { externalIdOf, referenceOf } from '../../../../../services/channels/products/telegram/places.ts';
import { groupNotice } from '../../../../../services/channels/products/telegram/private-notice.ts';
import { telegramRules } from '../../../../../services/channels/products/telegram/rules.ts';
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

function buttonsOf(approval: Partial<typeof APPROVAL>) {
  return keyboardOf({ ...APPROVAL, ...approval }).inline_keyboard.flat();
}

describe('keyboardOf', () => {
  it('offers both decisions as data that the parser of clicks reads, within 64 bytes', () => {
    const buttons = buttonsOf({});
    expect(buttons.map(({ text }) => text)).toEqual(['Allow', 'Deny']);
    const data = buttons.map((button) => ('callback_data' in button ? button.callback_data : ''));
    expect(data.map(decisionInText)).toEqual([
      { decision: 'allow', approvalId: APPROVAL.approvalId },
      { decision: 'deny', approvalId: APPROVAL.approvalId },
    ]);
    expect(Math.max(...data.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(64);
  });

  it('offers the console instead of Allow for an input that is not whole', () => {
    const { consoleUrl } = APPROVAL;
    expect(buttonsOf({ canAllow: false })[0]).toEqual({ text: 'Open the console', url: consoleUrl });
    const local = buttonsOf({ canAllow: false, consoleUrl: 'http://127.0.0.1:8080/sessions/ses_1' });
    expect(local.map(({ text }) => text)).toEqual(['Deny']);
  });

  it('has no buttons after the decision', () => {
    expect(buttonsOf({ decision: 'allowed' })).toEqual([]);
  });
});

describe('ids of posts', () => {
  it('name the chat in groups, which can become other chats', () => {
    const place = { place: '-5', thread: '', isGroup: true };
    for (const reference of [
      { chat: '-5', messageId: 12 },
      { chat: '-1000000000007', messageId: 3 },
    ])
      expect(referenceOf(externalIdOf(reference, place), place)).toEqual(reference);
    const direct = { place: '7', thread: '', isGroup: false };
    expect(externalIdOf({ chat: '7', messageId: 12 }, direct)).toBe('12');
    expect(referenceOf('12', direct)).toEqual({ chat: '7', messageId: 12 });
  });
});

describe('groupNotice', () => {
  it('names the person and says how to start the bot', () => {
    expect(groupNotice('42', 'agent_bot')).toBe(
      '<a href="tg://user?id=42">For you</a>: I may not write to you yet. Open a chat with @agent_bot, press Start, and try again.',
    );
  });
});

describe('rules of posts', () => {
  it('edits groups more slowly, as Telegram allows 20 messages per minute there', () => {
    const place = { place: '1', thread: '' };
    expect(telegramRules.editIntervalMs({ ...place, isGroup: true })).toBe(3_000);
    expect(telegramRules.editIntervalMs({ ...place, isGroup: false })).toBeLessThan(3_000);
    expect(telegramRules.lengthOf('**a** & [b](https://example.com)')).toBe('a & b'.length);
  });
});
