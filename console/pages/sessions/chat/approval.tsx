import { useMutation } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { type Deciding, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import type { Asked, Call } from '../../../journal/chat.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { Problem } from '../../../parts/faults/failure.tsx';
import { jsonText } from '../../../parts/text/json.ts';
import { Button } from '../../../ui/button.tsx';
import { Field, Input, TextArea } from '../../../ui/field.tsx';
import { Time } from '../../../ui/time.tsx';

export interface ApprovalProps {
  call: Call;
  approval: Asked;
  session: Session;
  mayWrite: boolean;
}

const DECIDED: Record<string, string> = {
  allow: 'Allowed',
  deny: 'Denied',
  retry: 'To be made again',
  mark_done: 'Marked as done',
  mark_failed: 'Marked as failed',
};

/** Asks whether a call may be made, or what has become of one that nobody knows the end of. */
export function Approval({ call, approval, session, mayWrite }: ApprovalProps) {
  if (approval.decision !== undefined)
    return (
      <p className="text-[13px] text-muted wrap-anywhere">
        {DECIDED[approval.decision] ?? approval.decision}
        {approval.reason ? `: ${approval.reason}` : '.'}
      </p>
    );
  if (call.state !== 'asked') return null;
  if (!mayWrite) return <p className="text-[13px] text-muted">Whoever the session belongs to decides.</p>;
  return <Decide call={call} approval={approval} session={session} />;
}

/** Where the focus goes when it was on what a decision has taken away: to the head of the card, which stays. */
function useFocusOnHead() {
  const place = useRef<HTMLFieldSetElement>(null);
  useLayoutEffect(() => {
    const fields = place.current;
    const head = fields?.closest('article')?.querySelector<HTMLElement>('button[aria-expanded]');
    return () => {
      if (!fields?.contains(document.activeElement)) return;
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) head?.focus();
      });
    };
  }, []);
  return place;
}

function Decide({ call, approval, session }: Omit<ApprovalProps, 'mayWrite'>) {
  const place = useFocusOnHead();
  const [mode, setMode] = useState<'plain' | 'edit' | 'deny'>('plain');
  const [edited, setEdited] = useState(() => jsonText(call.input));
  const [reason, setReason] = useState('');
  const [wasElsewhere, setWasElsewhere] = useState(false);
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: (deciding: Deciding) => sessions.decide(session.session_id, deciding),
  });
  const decide = (decision: Deciding['decision'], more: Partial<Deciding> = {}) =>
    mutate({ approvalId: approval.approvalId, decision, ...more });
  const busy = isPending || isSuccess;
  const input = parsed(edited);
  const goBack = () => {
    setWasElsewhere(true);
    setMode('plain');
  };
  const body = {
    plain: { decision: approval.kind === 'outcome_unknown' ? 'retry' : 'allow' },
    edit: { decision: 'allow', edited_input: input },
    deny: { decision: 'deny', reason: reason || undefined },
  }[mode];
  const curl = (
    <CopyCurl
      method="POST"
      path={`/sessions/${session.session_id}/approvals/${approval.approvalId}`}
      body={body}
      about={`the decision on ${call.name}`}
    />
  );
  // Several may be asked for at once.
  const which = <span className="sr-only">: {call.name}</span>;
  const deadline = (
    <p className="text-[13px] text-muted">
      Without an answer it counts as denied <Time at={approval.expiresAt} />.
    </p>
  );
  if (approval.kind === 'outcome_unknown')
    return (
      <fieldset ref={place} className="flex flex-col gap-2">
        <legend className="mb-2">
          It was begun, and nobody knows whether it has had its effect. What shall become of it?
        </legend>
        <div className="flex flex-wrap gap-2">
          <Button small look="primary" busy={busy} onClick={() => decide('retry')}>
            Make it again
            {which}
          </Button>
          <Button small busy={busy} onClick={() => decide('mark_done')}>
            It was done
            {which}
          </Button>
          <Button small busy={busy} onClick={() => decide('mark_failed')}>
            It has failed
            {which}
          </Button>
          {curl}
        </div>
        {deadline}
        <Problem error={error} />
      </fieldset>
    );
  return (
    <fieldset
      ref={place}
      className="flex flex-col gap-2"
      onKeyDown={({ key }) => {
        if (key === 'Escape' && mode !== 'plain' && !busy) goBack();
      }}
    >
      <legend className="sr-only">May {call.name} be called with exactly this input?</legend>
      {mode === 'edit' && (
        <Field label="Run this instead" error={input ? undefined : 'This is no JSON object.'}>
          <TextArea
            value={edited}
            rows={6}
            autoFocus
            spellCheck={false}
            className="font-mono text-[12.5px]"
            onChange={(event) => setEdited(event.target.value)}
          />
        </Field>
      )}
      {mode === 'deny' && (
        <Field label="Reason" optional hint="The agent is told.">
          <Input value={reason} autoFocus onChange={(event) => setReason(event.target.value)} />
        </Field>
      )}
      <div className="flex flex-wrap gap-2">
        {mode === 'plain' && (
          <>
            <Button
              small
              look="primary"
              busy={busy}
              // Whoever comes back from another way to decide goes on here.
              autoFocus={wasElsewhere}
              onClick={() => decide('allow')}
            >
              Allow
              {which}
            </Button>
            <Button small disabled={busy} onClick={() => setMode('deny')}>
              Deny
              {which}
            </Button>
            <Button small disabled={busy} onClick={() => setMode('edit')}>
              Edit the input
              {which}
            </Button>
          </>
        )}
        {mode === 'edit' && (
          <Button
            small
            look="primary"
            busy={busy}
            disabled={!input}
            onClick={() => decide('allow', { editedInput: input })}
          >
            Allow what is written here
            {which}
          </Button>
        )}
        {mode === 'deny' && (
          <Button small look="danger" busy={busy} onClick={() => decide('deny', { reason })}>
            Deny
            {which}
          </Button>
        )}
        {mode !== 'plain' && (
          <Button small look="quiet" disabled={busy} onClick={goBack}>
            Back
          </Button>
        )}
        {curl}
      </div>
      {deadline}
      <Problem error={error} />
    </fieldset>
  );
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
