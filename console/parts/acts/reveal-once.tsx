import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

export interface RevealOnceProps {
  /** What it is: secret, token. */
  noun: string;
  description: string;
  /** Its name in front of it. */
  label: string;
  value: string;
  wide?: boolean;
  /** What else there is to know about it. */
  children: ReactNode;
  onDone: () => void;
}

/** Shows a secret, this one time. It goes away only when somebody says that they have stored it. */
export function RevealOnce({ noun, description, label, value, wide, children, onDone }: RevealOnceProps) {
  const [isStored, setStored] = useState(false);
  // Whoever leaves by accident now would never see it again.
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
