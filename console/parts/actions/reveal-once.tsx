import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

export interface RevealOnceProps {
  /** Kind of the value: secret, token. */
  noun: string;
  description: string;
  /** Label above the value. */
  label: string;
  value: string;
  wide?: boolean;
  /** Additional information below the value. */
  children: ReactNode;
  onDone: () => void;
}

/** Shows a secret once. The dialog closes only after the user confirms that the secret is stored. */
export function RevealOnce({ noun, description, label, value, wide, children, onDone }: RevealOnceProps) {
  const [isStored, setStored] = useState(false);
  // The secret cannot be shown again, so leaving the page needs a confirmation.
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return (
    <Dialog
      open
      wide={wide ?? false}
      title={`Store the ${noun} now`}
      description={description}
      initialFocus="title"
    >
      <div className="flex min-w-0 flex-col gap-5">
        <section className="flex flex-col gap-1.5">
          <h3 className="font-medium">{label}</h3>
          <Code text={value} label={label} wrap />
        </section>
        {children}
        <Checkbox checked={isStored} onChange={setStored}>
          I have stored the {noun}
        </Checkbox>
      </div>
      <DialogActions>
        <Button look="primary" disabled={!isStored} onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
