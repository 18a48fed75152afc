import { Popover as Base } from '@base-ui/react/popover';
import type { ReactNode, RefObject } from 'react';

export interface PopoverProps {
  /** The button that opens it. */
  anchor: RefObject<HTMLElement | null>;
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Details beside the button that opens them. The focus moves into them, and back when they close. */
export function Popover({ anchor, title, open, onClose, children }: PopoverProps) {
  return (
    <Base.Root
      open={open}
      onOpenChange={(_, { reason, event }) => {
        // The button closes it by itself.
        const isOnButton = event.target instanceof Node && anchor.current?.contains(event.target);
        if (reason !== 'outside-press' || !isOnButton) onClose();
      }}
    >
      <Base.Portal>
        <Base.Positioner anchor={anchor} sideOffset={6} align="start" collisionPadding={16} className="z-50">
          <Base.Popup
            finalFocus={anchor}
            className="w-88 max-w-(--available-width) animate-appear rounded-xl border border-line bg-raised p-4 shadow-float outline-none"
          >
            <Base.Title className="font-semibold">{title}</Base.Title>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
