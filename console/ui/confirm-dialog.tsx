import { type ReactNode, useRef } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

export interface ConfirmDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** The consequences of the action. */
  children: ReactNode;
  /** The verb on the button. */
  action: string;
  /** The action can be undone by its opposite. */
  isMild?: boolean;
  onConfirm: () => void;
  busy?: boolean;
  /** Content below the description that is not part of it. */
  below?: ReactNode;
}

/** Asks for a confirmation of an action. The Cancel button has the initial focus. */
export function ConfirmDialog({
  open,
  onClose,
  title,
  children,
  action,
  isMild = false,
  onConfirm,
  busy = false,
  below,
}: ConfirmDialogProps) {
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
