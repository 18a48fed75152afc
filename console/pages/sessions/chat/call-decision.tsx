import { type ReactNode, useId, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import type { DecisionProps } from './decision.ts';
import { ShowInputHint } from './show-input-hint.tsx';
import { EditFields } from './tool-input/edit-fields.tsx';
import { type EditedTexts, editableFields, editedInput } from './tool-input/input-editor.ts';

type Mode = 'plain' | 'edit' | 'deny';

/** Form that allows a call, allows it with an edited input, or denies it. */
export function CallDecision(props: DecisionProps) {
  const { call, busy } = props;
  const [mode, setMode] = useState<Mode>('plain');
  const [hasReturned, setHasReturned] = useState(false);
  // Kept here, so that the edited texts survive the Back button.
  const [texts, setTexts] = useState<EditedTexts>({});
  const [reason, setReason] = useState('');
  const goBack = () => {
    setHasReturned(true);
    setMode('plain');
  };
  // Names the tool, because several approvals can be pending.
  const shared = { ...props, which: <span className="sr-only">: {call.name}</span>, onBack: goBack };
  return (
    <fieldset
      className="flex flex-col gap-2"
      onKeyDown={({ key }) => {
        if (key === 'Escape' && mode !== 'plain' && !busy) goBack();
      }}
    >
      <legend className="sr-only">Allow {call.name} to run with this input?</legend>
      {mode === 'plain' && <Choice {...shared} hasReturned={hasReturned} onMode={setMode} />}
      {mode === 'edit' && <Edit {...shared} texts={texts} onTexts={setTexts} />}
      {mode === 'deny' && <Denial {...shared} reason={reason} onReason={setReason} />}
    </fieldset>
  );
}

interface PartProps extends DecisionProps {
  /** Text for screen readers that completes the text of a button. */
  which: ReactNode;
  onBack: () => void;
}

interface ChoiceProps extends PartProps {
  /** The user has pressed Back. The first enabled button gets the focus. */
  hasReturned: boolean;
  onMode: (mode: Mode) => void;
}

function Choice({ isInputShown, busy, onDecide, curlOf, which, hasReturned, onMode }: ChoiceProps) {
  const hint = useId();
  const describedBy = isInputShown ? undefined : hint;
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button
          small
          look="primary"
          busy={busy}
          disabled={!isInputShown}
          aria-describedby={describedBy}
          autoFocus={hasReturned && isInputShown}
          onClick={() => onDecide({ decision: 'allow' })}
        >
          Allow
          {which}
        </Button>
        <Button small disabled={busy} autoFocus={hasReturned && !isInputShown} onClick={() => onMode('deny')}>
          Deny
          {which}
        </Button>
        <Button
          small
          disabled={busy || !isInputShown}
          aria-describedby={describedBy}
          onClick={() => onMode('edit')}
        >
          Edit input
          {which}
        </Button>
        {isInputShown && curlOf({ decision: 'allow' })}
      </div>
      {!isInputShown && <ShowInputHint id={hint} />}
    </>
  );
}

interface EditProps extends PartProps {
  texts: EditedTexts;
  onTexts: (texts: EditedTexts) => void;
}

function Edit({ call, busy, onDecide, curlOf, which, onBack, texts, onTexts }: EditProps) {
  const fields = editableFields(call.name, call.input);
  const { value, problems } = editedInput(call.input, fields, texts);
  return (
    <>
      <EditFields fields={fields} texts={texts} problems={problems} onTexts={onTexts} />
      <div className="flex flex-wrap gap-2">
        <Button
          small
          look="primary"
          busy={busy}
          disabled={!value}
          onClick={() => onDecide({ decision: 'allow', editedInput: value })}
        >
          Allow with edited input
          {which}
        </Button>
        <BackButton busy={busy} onBack={onBack} />
        {value && curlOf({ decision: 'allow', editedInput: value })}
      </div>
    </>
  );
}

interface DenialProps extends PartProps {
  reason: string;
  onReason: (reason: string) => void;
}

function Denial({ busy, onDecide, curlOf, which, onBack, reason, onReason }: DenialProps) {
  const decision = { decision: 'deny', reason: reason || undefined } as const;
  return (
    <>
      <Field label="Reason" optional hint="Sent to the agent.">
        <Input value={reason} autoFocus onChange={(event) => onReason(event.target.value)} />
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button small look="danger" busy={busy} onClick={() => onDecide(decision)}>
          Deny
          {which}
        </Button>
        <BackButton busy={busy} onBack={onBack} />
        {curlOf(decision)}
      </div>
    </>
  );
}

function BackButton({ busy, onBack }: { busy: boolean; onBack: () => void }) {
  return (
    <Button small look="quiet" disabled={busy} onClick={onBack}>
      Back
    </Button>
  );
}
