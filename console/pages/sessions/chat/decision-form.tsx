import { useMutation } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense } from 'react';
import { ApiError } from '../../../api/client.ts';
import { type ApprovalDecision, sessions } from '../../../api/sessions.ts';
import type { ApprovalRequest } from '../../../journal/chat.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { CallDecision } from './call-decision.tsx';
import type { ApprovalProps, Decision, DecisionProps } from './decision.ts';
import { refusedFields } from './refused-fields.ts';
import { useCardHeaderFocus } from './use-card-header-focus.ts';

// Few calls go to a server that lacks a credential or asks for input.
const ConnectDecision = lazy(async () => ({
  default: (await loadChunk(() => import('./server-request/connect-decision.tsx'))).ConnectDecision,
}));
const InputDecision = lazy(async () => ({
  default: (await loadChunk(() => import('./server-request/input-decision.tsx'))).InputDecision,
}));

// Only a crash makes the outcome of a call unknown.
const OutcomeDecision = lazy(async () => ({
  default: (await loadChunk(() => import('./outcome-decision.tsx'))).OutcomeDecision,
}));

const FORMS: Record<ApprovalRequest['kind'], ComponentType<DecisionProps>> = {
  tool: CallDecision,
  outcome_unknown: OutcomeDecision,
  authorization: ConnectDecision,
  input: InputDecision,
};

/** The form for a decision on a call: allow or deny it, or resolve what it waits for. */
export function DecisionForm({ call, approval, session, isInputShown }: Omit<ApprovalProps, 'mayWrite'>) {
  const box = useCardHeaderFocus();
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: (decision: ApprovalDecision) => sessions.decide(session.session_id, decision),
  });
  const curlOf = ({ decision, reason, editedInput, content }: Decision) => (
    <CopyCurl
      method="POST"
      path={`/sessions/${session.session_id}/approvals/${approval.approvalId}`}
      body={{ decision, reason, edited_input: editedInput, content }}
      about={`the decision on ${call.name}`}
    />
  );
  const Form = FORMS[approval.kind];
  return (
    <div ref={box} className="flex flex-col gap-2">
      <Suspense fallback={<Skeleton lines={2} />}>
        <Form
          call={call}
          approval={approval}
          isInputShown={isInputShown}
          busy={isPending || isSuccess}
          refused={error instanceof ApiError ? refusedFields(error.details, 'content') : {}}
          onDecide={(decision) => mutate({ approvalId: approval.approvalId, ...decision })}
          curlOf={curlOf}
        />
      </Suspense>
      <p className="text-[13px] text-muted">
        {approval.kind === 'input' ? 'Cancelled' : 'Denied'} automatically <Time at={approval.expiresAt} />.
      </p>
      <ErrorAlert error={error} />
    </div>
  );
}
