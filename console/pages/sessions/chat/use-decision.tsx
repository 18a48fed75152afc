import { useMutation } from '@tanstack/react-query';
import { ApiError } from '../../../api/client.ts';
import { type ApprovalDecision, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import type { ApprovalRequest } from '../../../journal/chat.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import type { Decision, DecisionProps } from './decision.ts';
import { refusedFields } from './refused-fields.ts';

/** Returns the members of a form that decides an approval, and the error of the last attempt. `subject` names the approval. */
export function useDecision(
  session: Session,
  { approvalId }: ApprovalRequest,
  subject: string,
): Pick<DecisionProps, 'busy' | 'refused' | 'onDecide' | 'curlOf'> & { error: unknown } {
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: (decision: ApprovalDecision) => sessions.decide(session.session_id, decision),
  });
  const curlOf = ({ decision, reason, editedInput, content }: Decision) => (
    <CopyCurl
      method="POST"
      path={`/sessions/${session.session_id}/approvals/${approvalId}`}
      body={{ decision, reason, edited_input: editedInput, content }}
      about={`the decision on ${subject}`}
    />
  );
  return {
    busy: isPending || isSuccess,
    refused: error instanceof ApiError ? refusedFields(error.details, 'content') : {},
    onDecide: (decision) => mutate({ approvalId, ...decision }),
    curlOf,
    error,
  };
}
