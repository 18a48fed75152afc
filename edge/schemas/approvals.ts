import { Type } from 'typebox';
import type { Approval } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AnyObject, id, NULL, nullable, shownTime, shownTimeOrNull, text, time } from './common.ts';

export const APPROVAL_STATUSES = ['pending', 'decided', 'expired', 'cancelled'] as const;
const DECISIONS = ['allow', 'deny', 'retry', 'mark_done', 'mark_failed'] as const;

export const Decision = Type.Enum([...DECISIONS], {
  description:
    'Of a tool: allow or deny. Of a call whose outcome is unknown: retry, mark_done or mark_failed, which say what the agent is told.',
});

export const ApprovalShape = Type.Object(
  {
    approval_id: id('apr', 'the approval'),
    session_id: id('ses', 'its session'),
    turn_id: id('trn', 'the turn that waits for it'),
    kind: Type.Enum(['tool', 'outcome_unknown'], {
      description: 'Whether a tool may be called, or what became of a call that was cut off.',
    }),
    tool_use_id: text('The call, as the model names it.', { examples: ['call_1'] }),
    tool_name: text('The tool.', { examples: ['current_time'] }),
    input_sha256: text('SHA-256 of the input as JSON text, in lowercase hexadecimal.', {
      examples: ['44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
    }),
    status: Type.Enum([...APPROVAL_STATUSES]),
    decision: nullable(Decision, NULL),
    reason: nullable(text('What the agent is told about it.'), NULL),
    decided_by: nullable(id('usr', 'who decided'), NULL),
    requested_by: id('agt', 'the agent that asks, or ast_…: the assistant'),
    created_at: time('When it was asked.'),
    expires_at: time('When it counts as denied.'),
    decided_at: nullable(time('When it was decided.'), NULL),
    input: Type.Unknown({
      description: 'What the tool is to be called with, exactly as the model wrote it.',
      examples: [{}],
    }),
    edited_input: nullable(AnyObject('What it was called with instead.'), NULL),
  },
  { title: 'Approval' },
);

/** An approval as JSON text: what a tool is called with stands in it as it came. */
export function shownApproval(approval: Approval | undefined): string {
  const facts = {
    approval_id: approval?.approvalId,
    session_id: approval?.sessionId,
    turn_id: approval?.turnId,
    kind: approval?.kind,
    tool_use_id: approval?.toolUseId,
    tool_name: approval?.toolName,
    input_sha256: approval?.inputSha256,
    status: approval?.status,
    decision: approval?.decision || null,
    reason: approval?.reason || null,
    decided_by: approval?.decidedBy || null,
    requested_by: approval?.requestedBy,
    created_at: shownTime(approval?.createdAt),
    expires_at: shownTime(approval?.expiresAt),
    decided_at: shownTimeOrNull(approval?.decidedAt),
  };
  const input = approval?.inputJson || 'null';
  const edited = approval?.editedInputJson || 'null';
  return `${JSON.stringify(facts).slice(0, -1)},"input":${input},"edited_input":${edited}}`;
}
