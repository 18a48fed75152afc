import { Popover as Base } from '@base-ui/react/popover';
import type { ReactElement, ReactNode } from 'react';

export interface PopoverProps {
  /** The button that opens it. */
  trigger: ReactElement;
  title: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}

/** Details beside the button that opens them. The focus moves into them, and back when they close. */
export function Popover({ trigger, title, open, onOpenChange, children }: PopoverProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="start" collisionPadding={16} className="z-50">
          <Base.Popup className="w-88 max-w-(--available-width) animate-appear rounded-xl border border-line bg-raised p-4 shadow-float outline-none">
            <Base.Title className="font-semibold">{title}</Base.Title>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
