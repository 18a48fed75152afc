import { cloneElement, type ReactElement, useState } from 'react';
import { type Act, ConfirmAct } from './confirm-act.tsx';

export interface ActButtonProps extends Act {
  /** The button that asks for it. */
  button: ReactElement<{ onClick?: () => void }>;
}

/** A button for something that is done once it is confirmed. */
export function ActButton({ button, ...act }: ActButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {cloneElement(button, { onClick: () => setOpen(true) })}
      <ConfirmAct {...act} open={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}
