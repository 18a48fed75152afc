import { lazy, Suspense } from 'react';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { providerName } from '../../../parts/text/provider-names.ts';
import { UserName } from '../../../parts/users/user-name.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import type { ApprovalProps } from './decision.ts';

// Few sessions have calls that wait for a decision.
const DecisionForm = lazy(async () => ({
  default: (await loadChunk(() => import('./decision-form.tsx'))).DecisionForm,
}));

const DECISION_LABELS: Record<string, string> = {
  allow: 'Allowed',
  deny: 'Denied',
  retry: 'Run again',
  mark_done: 'Marked as done',
  mark_failed: 'Marked as failed',
  accept: 'Answered',
  decline: 'Declined',
  cancel: 'Cancelled',
};

const AUTHORIZATION_LABELS: Record<string, string> = {
  retry: 'Tried again',
  deny: 'Continued without access',
};

/** Approval of a tool call: its decision, or the form for one. */
export function Approval({ call, approval, session, mayWrite, isInputShown }: ApprovalProps) {
  const { decision, reason, kind, isShared, channel } = approval;
  if (decision !== undefined) {
    const labels = kind === 'authorization' ? AUTHORIZATION_LABELS : DECISION_LABELS;
    return (
      <p className="text-[13px] text-muted wrap-anywhere">
        {labels[decision] ?? decision}
        {channel && (
          <>
            {' by '}
            <UserName id={channel.by} /> via {providerName(channel.via.split(':')[0] ?? '')}
          </>
        )}
        {reason ? `: ${reason}` : '.'}
      </p>
    );
  }
  if (call.state !== 'awaiting_approval') return null;
  if (isShared)
    return <p className="text-[13px] text-muted">Waits for the same decision as an earlier call.</p>;
  if (!mayWrite) return <p className="text-[13px] text-muted">Only the owner of the session can decide.</p>;
  return (
    <Suspense fallback={<Skeleton lines={2} />}>
      <DecisionForm call={call} approval={approval} session={session} isInputShown={isInputShown} />
    </Suspense>
  );
}
