import { useId } from 'react';
import { Button } from '../../../ui/button.tsx';
import type { DecisionProps } from './decision.ts';
import { ShowInputHint } from './show-input-hint.tsx';

/** Form for a call that was started and whose outcome is unknown. */
export function OutcomeDecision({ call, isInputShown, busy, onDecide, curlOf }: DecisionProps) {
  const hint = useId();
  // Names the tool, because several approvals can be pending.
  const which = <span className="sr-only">: {call.name}</span>;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2">
        The call was started and its outcome is unknown. Choose how to continue.
      </legend>
      <div className="flex flex-wrap gap-2">
        <Button
          small
          look="primary"
          busy={busy}
          disabled={!isInputShown}
          aria-describedby={isInputShown ? undefined : hint}
          onClick={() => onDecide({ decision: 'retry' })}
        >
          Run again
          {which}
        </Button>
        <Button small busy={busy} onClick={() => onDecide({ decision: 'mark_done' })}>
          Mark as done
          {which}
        </Button>
        <Button small busy={busy} onClick={() => onDecide({ decision: 'mark_failed' })}>
          Mark as failed
          {which}
        </Button>
        {isInputShown && curlOf({ decision: 'retry' })}
      </div>
      {!isInputShown && <ShowInputHint id={hint} />}
    </fieldset>
  );
}
