import { Type } from 'typebox';
import { ApprovalDetails } from '../../lib/event-parts.ts';
import { APPROVAL_KINDS } from '../../lib/event-types.ts';
import type { Approval } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AnyObject, id, NULL, nullable, serializeTime, serializeTimeOrNull, text, time } from './common.ts';

export const APPROVAL_STATUSES = ['pending', 'decided', 'expired', 'cancelled'] as const;
const DECISIONS = [
  'allow',
  'deny',
  'retry',
  'mark_done',
  'mark_failed',
  'accept',
  'decline',
  'cancel',
] as const;

export const ApprovalDecisionSchema = Type.Enum([...DECISIONS], {
  description:
    '`allow` or `deny` for kind `tool`. `retry`, `mark_done` or `mark_failed` for kind `outcome_unknown`: the call is ' +
    'repeated, or the agent is told that it succeeded or failed. `retry` or `deny` for kind `authorization`: the credential ' +
    'is asked for again, or the agent is told that it has no access. Without `tool_use_id`, `deny` ends the turn as failed. ' +
    '`accept`, `decline` or `cancel` for kind `input`.',
});

export const ApprovalShape = Type.Object(
  {
    approval_id: id('apr', 'the approval'),
    session_id: id('ses', 'the session'),
    turn_id: id('trn', 'the turn that waits for the approval'),
    kind: Type.Enum([...APPROVAL_KINDS], {
      description:
        '`tool`: the agent asks to call a tool. `outcome_unknown`: a call was interrupted and its outcome is unknown. ' +
        '`authorization`: calls to a server wait for a credential, or the turn waits for the model key of its agent. `input`: the server of a call asks for input.',
    }),
    details: nullable(ApprovalDetails, NULL),
    tool_use_id: nullable(
      text('The id that the model gave the tool call. Null if the approval belongs to the turn itself.'),
      { examples: ['call_1'] },
    ),
    tool_name: nullable(text('The name of the tool.'), { examples: ['current_time'] }),
    input_sha256: nullable(text('The SHA-256 of the input as JSON text, in lowercase hexadecimal.'), {
      examples: ['44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
    }),
    status: Type.Enum([...APPROVAL_STATUSES]),
    decision: nullable(ApprovalDecisionSchema, NULL),
    reason: nullable(text('The reason that the agent is told.'), NULL),
    decided_by: nullable(id('usr', 'the user who decided'), NULL),
    via: nullable(
      text('The account in a messaging product with which the user has decided.', {
        examples: ['slack:U123'],
      }),
      NULL,
    ),
    requested_by: id('agt', 'the agent that requests the approval, or ast_…: the assistant'),
    created_at: time('The creation time.'),
    expires_at: time('The time after which the approval counts as denied.'),
    decided_at: nullable(time('The time of the decision.'), NULL),
    input: Type.Unknown({
      description: 'The input of the tool call, exactly as the model wrote it.',
      examples: [{}],
    }),
    edited_input: nullable(AnyObject('The input that replaces the input of the model.'), NULL),
  },
  { title: 'Approval' },
);

/** An approval as JSON text. The inputs are inserted as text, so that numbers keep their exact form. */
export function serializeApproval(approval: Approval | undefined): string {
  const members = {
    approval_id: approval?.approvalId,
    session_id: approval?.sessionId,
    turn_id: approval?.turnId,
    kind: approval?.kind,
    tool_use_id: approval?.toolUseId || null,
    tool_name: approval?.toolName || null,
    input_sha256: approval?.inputSha256 || null,
    status: approval?.status,
    decision: approval?.decision || null,
    reason: approval?.reason || null,
    decided_by: approval?.decidedBy || null,
    via: approval?.via ?? null,
    requested_by: approval?.requestedBy,
    created_at: serializeTime(approval?.createdAt),
    expires_at: serializeTime(approval?.expiresAt),
    decided_at: serializeTimeOrNull(approval?.decidedAt),
  };
  const details = approval?.detailsJson ?? 'null';
  const input = approval?.inputJson || 'null';
  const edited = approval?.editedInputJson || 'null';
  return `${JSON.stringify(members).slice(0, -1)},"details":${details},"input":${input},"edited_input":${edited}}`;
}
