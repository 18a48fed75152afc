import { describe, expect, it } from 'vitest';
import { serializeApproval } from '../../edge/schemas/approvals.ts';

describe('approvals of turns', () => {
  it('have null in place of the members of a call', () => {
    const details = { model_provider: 'openai', name: 'openai', reason: 'unavailable', who: 'administrator' };
    const shown = JSON.parse(
      serializeApproval({
        ...{ approvalId: 'apr_1', sessionId: 'ses_1', turnId: 'trn_1', kind: 'authorization' },
        ...{ toolUseId: '', toolName: '', inputJson: '', inputSha256: '', editedInputJson: '' },
        ...{ status: 'pending', decision: '', reason: '', decidedBy: '', requestedBy: 'agt_1' },
        ...{ createdAt: new Date(0), expiresAt: new Date(1), decidedAt: undefined },
        detailsJson: JSON.stringify(details),
      }),
    );
    expect(shown).toMatchObject({ kind: 'authorization', status: 'pending', details });
    const { tool_use_id, tool_name, input, input_sha256 } = shown;
    expect([tool_use_id, tool_name, input, input_sha256]).toEqual([null, null, null, null]);
  });
});
