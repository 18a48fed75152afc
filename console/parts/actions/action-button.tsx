import { cloneElement, type ReactElement, useState } from 'react';
import { ConfirmAction, type ConfirmedAction } from './confirm-action.tsx';

export interface ActionButtonProps extends ConfirmedAction {
  /** The button that opens the confirmation. */
  button: ReactElement<{ onClick?: () => void }>;
}

/** A button that runs an action after a confirmation. */
export function ActionButton({ button, ...action }: ActionButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {cloneElement(button, { onClick: () => setOpen(true) })}
      <ConfirmAction {...action} open={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}
