import type { Invocation } from '../../../../gen/index.ts';
import { TextLink } from '../../../../parts/navigation/links.tsx';
import { Badge } from '../../../../ui/badge.tsx';
import { rejectionReason, rejectionText } from './rejection-reasons.ts';

/** The id by which an operator finds the request in the log of the service. */
export function RequestId({ call: { request_id: id } }: { call: Invocation }) {
  if (id === null) return null;
  return <span className="block font-mono text-xs wrap-anywhere text-muted">Request {id}</span>;
}

export function ResultBadge({ result, reason }: Pick<Invocation, 'result' | 'reason'>) {
  if (result === 'accepted') return <Badge tone="good">Accepted</Badge>;
  const status = reason === null ? undefined : rejectionReason(reason)?.status;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone="bad">Rejected</Badge>
      {status !== undefined && (
        <span className="text-xs text-muted tabular-nums" title="Response status">
          {status}
        </span>
      )}
    </span>
  );
}

/** The session that a request started, or the reason of its rejection with a remedy. */
export function InvocationOutcome({ call }: { call: Invocation }) {
  const { result, session_id: sessionId, reason, count } = call;
  if (result === 'accepted')
    return sessionId ? (
      <TextLink to="/sessions/$sessionId" params={{ sessionId }} className="block">
        Open the session
        <span className="block truncate font-mono text-xs font-normal text-muted">{sessionId}</span>
      </TextLink>
    ) : (
      <span className="text-muted">Started a session.</span>
    );
  const remedy = reason === null ? undefined : rejectionReason(reason)?.remedy;
  return (
    <div className="wrap-anywhere">
      <span>{rejectionText(reason)}</span>{' '}
      {reason !== null && <code className="font-mono text-xs text-muted">{reason}</code>}
      {remedy && <p className="text-[13px] text-muted">{remedy}</p>}
      {count > 1 && (
        <p className="mt-0.5 text-[13px]">
          Represents {count.toLocaleString('en')} requests at that time. Size and address are those of the
          first request.
        </p>
      )}
    </div>
  );
}
