import { type ComponentType, lazy, Suspense } from 'react';
import type { ApprovalRequest } from '../../../journal/chat.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { CallDecision } from './call-decision.tsx';
import type { ApprovalProps, DecisionProps } from './decision.ts';
import { useCardHeaderFocus } from './use-card-header-focus.ts';
import { useDecision } from './use-decision.tsx';

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
  const { error, ...form } = useDecision(session, approval, call.name);
  const Form = FORMS[approval.kind];
  return (
    <div ref={box} className="flex flex-col gap-2">
      <Suspense fallback={<Skeleton lines={2} />}>
        <Form call={call} approval={approval} isInputShown={isInputShown} {...form} />
      </Suspense>
      <p className="text-[13px] text-muted">
        {approval.kind === 'input' ? 'Cancelled' : 'Denied'} automatically <Time at={approval.expiresAt} />.
      </p>
      <ErrorAlert error={error} />
    </div>
  );
}
