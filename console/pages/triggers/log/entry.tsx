import type { Invocation } from '../../../gen/index.ts';
import { TextLink } from '../../../parts/links.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { reasonOf, wordsFor } from './reasons.ts';

export function Result({ result, reason }: Pick<Invocation, 'result' | 'reason'>) {
  if (result === 'accepted') return <Badge tone="good">Accepted</Badge>;
  const status = reason === null ? undefined : reasonOf(reason)?.status;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone="bad">Refused</Badge>
      {status !== undefined && (
        <span className="text-xs text-muted tabular-nums" title="What the sender was answered">
          {status}
        </span>
      )}
    </span>
  );
}

/** The session that a call has started; or why it has started none, and what to do about it. */
export function Outcome({ call }: { call: Invocation }) {
  const { result, session_id: sessionId, reason, count } = call;
  if (result === 'accepted')
    return sessionId ? (
      <TextLink to="/sessions/$sessionId" params={{ sessionId }} className="block">
        Open the session
        <span className="block truncate font-mono text-xs font-normal text-muted">{sessionId}</span>
      </TextLink>
    ) : (
      <span className="text-muted">It has started a session.</span>
    );
  const remedy = reason === null ? undefined : reasonOf(reason)?.remedy;
  return (
    <div className="wrap-anywhere">
      <span>{wordsFor(reason)}</span>{' '}
      {reason !== null && <code className="font-mono text-xs text-muted">{reason}</code>}
      {remedy && <p className="text-[13px] text-muted">{remedy}</p>}
      {count > 1 && (
        <p className="mt-0.5 text-[13px]">
          Stands for {count.toLocaleString('en')} requests that came at that time; size and address are the
          first one’s.
        </p>
      )}
    </div>
  );
}
