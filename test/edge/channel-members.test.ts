import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { ApprovalShape, serializeApproval } from '../../edge/schemas/approvals.ts';
import { MessageShape, serializeMessage } from '../../edge/schemas/messages.ts';
import { EVENT_DATA } from '../../lib/events.ts';
import { Approval } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

const ID = '01KAK3V9Q6W1X2Y3Z4A5B6C7D8';
const sender = { provider: 'slack', external_id: 'U123', name: 'Ada', user_id: `usr_${ID}`, group: true };
const event = {
  ...{ event_id: `evt_${ID}`, session_id: `ses_${ID}`, seq: 2, type: 'user.message', turn_id: `trn_${ID}` },
  ...{ created_at: '2026-01-01T12:00:00.000Z', actor: { type: 'channel', id: `dep_${ID}` } },
};

describe('a message of a channel', () => {
  it('has its sender in the event and in the list of messages', () => {
    const data = { content: [{ type: 'text', text: 'Hello!' }], sender };
    expect(Value.Check(EVENT_DATA['user.message'], data)).toBe(true);
    expect(
      Value.Check(EVENT_DATA['user.message'], { ...data, sender: { ...sender, provider: 'teams' } }),
    ).toBe(false);
    const message = serializeMessage(JSON.stringify({ ...event, data }));
    expect(message).toMatchObject({ role: 'user', sender });
    expect(Value.Check(MessageShape, JSON.parse(JSON.stringify(message)))).toBe(true);
  });

  it('has no sender if a user of the service has written it', () => {
    const data = { content: [{ type: 'text', text: 'Hello!' }] };
    const message = JSON.parse(JSON.stringify(serializeMessage(JSON.stringify({ ...event, data }))));
    expect(message).not.toHaveProperty('sender');
  });
});

describe('an approval that was decided in a channel', () => {
  const approval = (via?: string) => {
    const ids = { approvalId: `apr_${ID}`, sessionId: `ses_${ID}`, turnId: `trn_${ID}` };
    const decision = { status: 'decided', decision: 'allow', decidedBy: `usr_${ID}`, via };
    const times = { createdAt: new Date(0), expiresAt: new Date(1), decidedAt: new Date(1) };
    const members = { ...ids, kind: 'tool', ...decision, requestedBy: `agt_${ID}`, ...times };
    return JSON.parse(serializeApproval(Approval.decode(Approval.encode({ ...EMPTY, ...members }).finish())));
  };
  const EMPTY = {
    ...{ toolUseId: '', toolName: '', inputJson: '{}', inputSha256: '', reason: '', editedInputJson: '' },
  };

  it('names the account, which is null for a decision elsewhere', () => {
    const decided = approval('slack:U123');
    expect(decided).toMatchObject({ decided_by: `usr_${ID}`, via: 'slack:U123' });
    expect(approval().via).toBeNull();
    expect(Value.Check(ApprovalShape, decided)).toBe(true);
  });
});
