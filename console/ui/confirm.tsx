import { type ReactNode, useRef } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

export interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What it means, beyond what the title says. */
  children: ReactNode;
  /** The verb on the button. */
  action: string;
  /** What it does can be undone by the opposite. */
  isMild?: boolean;
  onConfirm: () => void;
  busy?: boolean;
  /** Below what it means, and no part of it. */
  below?: ReactNode;
}

/** Asks before something is done that cannot be undone. The way out has the focus first. */
export function Confirm({
  open,
  onClose,
  title,
  children,
  action,
  isMild = false,
  onConfirm,
  busy = false,
  below,
}: ConfirmProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      description={<div className="mt-4 wrap-anywhere">{children}</div>}
      initialFocus={cancel}
    >
      {below}
      <DialogActions>
        <Button ref={cancel} onClick={onClose}>
          Cancel
        </Button>
        <Button look={isMild ? 'primary' : 'danger'} busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
