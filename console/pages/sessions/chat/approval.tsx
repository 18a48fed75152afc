import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { type ApprovalDecision, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import type { ApprovalRequest, ToolCall } from '../../../journal/chat.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { CallDecision } from './call-decision.tsx';
import type { Decision } from './decision.ts';
import { useCardHeaderFocus } from './use-card-header-focus.ts';

// Only a crash makes the outcome of a call unknown.
const OutcomeDecision = lazy(async () => ({
  default: (await loadChunk(() => import('./outcome-decision.tsx'))).OutcomeDecision,
}));

export interface ApprovalProps {
  call: ToolCall;
  approval: ApprovalRequest;
  session: Session;
  mayWrite: boolean;
  /** The whole input is on the page. A call can be allowed only then. */
  isInputShown: boolean;
}

const DECISION_LABELS: Record<string, string> = {
  allow: 'Allowed',
  deny: 'Denied',
  retry: 'Run again',
  mark_done: 'Marked as done',
  mark_failed: 'Marked as failed',
};

/** Approval of a tool call: allow or deny the call, or resolve a call with an unknown outcome. */
export function Approval({ call, approval, session, mayWrite, isInputShown }: ApprovalProps) {
  if (approval.decision !== undefined)
    return (
      <p className="text-[13px] text-muted wrap-anywhere">
        {DECISION_LABELS[approval.decision] ?? approval.decision}
        {approval.reason ? `: ${approval.reason}` : '.'}
      </p>
    );
  if (call.state !== 'awaiting_approval') return null;
  if (!mayWrite) return <p className="text-[13px] text-muted">Only the owner of the session can decide.</p>;
  return <DecisionForm call={call} approval={approval} session={session} isInputShown={isInputShown} />;
}

function DecisionForm({ call, approval, session, isInputShown }: Omit<ApprovalProps, 'mayWrite'>) {
  const box = useCardHeaderFocus();
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: (decision: ApprovalDecision) => sessions.decide(session.session_id, decision),
  });
  const curlOf = ({ decision, reason, editedInput }: Decision) => (
    <CopyCurl
      method="POST"
      path={`/sessions/${session.session_id}/approvals/${approval.approvalId}`}
      body={{ decision, reason, edited_input: editedInput }}
      about={`the decision on ${call.name}`}
    />
  );
  const Form = approval.kind === 'outcome_unknown' ? OutcomeDecision : CallDecision;
  return (
    <div ref={box} className="flex flex-col gap-2">
      <Suspense fallback={<Skeleton lines={2} />}>
        <Form
          call={call}
          isInputShown={isInputShown}
          busy={isPending || isSuccess}
          onDecide={(decision) => mutate({ approvalId: approval.approvalId, ...decision })}
          curlOf={curlOf}
        />
      </Suspense>
      <p className="text-[13px] text-muted">
        Denied automatically <Time at={approval.expiresAt} />.
      </p>
      <ErrorAlert error={error} />
    </div>
  );
}
