import { useState } from 'react';
import type { Session } from '../../../../gen/index.ts';
import type { TurnAuthorization } from '../../../../journal/chat.ts';
import { ErrorAlert } from '../../../../parts/errors/error-state.tsx';
import { Badge } from '../../../../ui/badge.tsx';
import { Button } from '../../../../ui/button.tsx';
import { classes } from '../../../../ui/classes.ts';
import { Time } from '../../../../ui/time.tsx';
import { EventMenu } from '../../event-menu.tsx';
import { useDecision } from '../use-decision.tsx';

interface ModelKeyCardProps {
  authorization: TurnAuthorization;
  session: Session;
  mayWrite: boolean;
  onRaw: (event: number) => void;
}

const REASONS: Record<string, string> = {
  vault_sealed: 'The key cannot be opened now.',
  unavailable: 'The service that keeps the key does not answer.',
};

const DECISIONS: Record<string, string> = {
  retry: 'Tried again.',
  deny: 'The turn was ended.',
  cancelled: 'The turn has ended.',
};

/** Card of a turn that waits for the model key of its agent. */
export function ModelKeyCard({ authorization, session, mayWrite, onRaw }: ModelKeyCardProps) {
  const { approval, seq } = authorization;
  const { name = 'the model', reason = '' } = approval.details ?? {};
  const { decision } = approval;
  const isOpen = decision === undefined;
  const title = `Model key for ${name}`;
  return (
    <article
      aria-label={title}
      className={classes('rounded-xl border bg-surface', isOpen ? 'border-warn' : 'border-line')}
    >
      <div className="flex items-center gap-2 py-1.5 ps-3 pe-1.5">
        <span className="min-w-0 flex-1 font-medium wrap-anywhere">{title}</span>
        {isOpen && <Badge tone="warn">Waiting for the key</Badge>}
        <EventMenu session={session} seq={seq} mayFork={mayWrite} onRaw={onRaw} />
      </div>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        <p className="text-[13px] text-muted wrap-anywhere">
          {isOpen
            ? (REASONS[reason] ?? 'The key is not available.')
            : (DECISIONS[decision] ?? `${decision}.`)}
        </p>
        {isOpen &&
          (mayWrite ? (
            <ModelKeyDecision authorization={authorization} session={session} name={title} />
          ) : (
            <p className="text-[13px] text-muted">Only the owner of the session can decide.</p>
          ))}
      </div>
    </article>
  );
}

function ModelKeyDecision({
  authorization: { approval },
  session,
  name,
}: Pick<ModelKeyCardProps, 'authorization' | 'session'> & { name: string }) {
  const { busy, onDecide, curlOf, error } = useDecision(session, approval, name);
  const [hasDenied, setDenied] = useState(false);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="sr-only">{name}</legend>
      <div className="flex flex-wrap gap-2">
        <Button
          small
          look="primary"
          busy={busy && !hasDenied}
          disabled={busy}
          onClick={() => onDecide({ decision: 'retry' })}
        >
          Try again
        </Button>
        <Button
          small
          busy={busy && hasDenied}
          disabled={busy}
          onClick={() => {
            setDenied(true);
            onDecide({ decision: 'deny' });
          }}
        >
          End the turn
        </Button>
        {curlOf({ decision: 'retry' })}
      </div>
      <p className="text-[13px] text-muted">
        The turn fails <Time at={approval.expiresAt} /> without a decision.
      </p>
      <ErrorAlert error={error} />
    </fieldset>
  );
}
