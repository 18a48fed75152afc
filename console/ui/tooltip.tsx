import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

export const TooltipProvider = Base.Provider;

/** Shows a text on hover and focus of its child, which screen readers get from the name or description of the child. */
export function Tooltip({ text, children }: { text: string; children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-50">
          <Base.Popup
            aria-hidden
            className="max-w-80 animate-appear rounded-md bg-ink px-2 py-1 text-xs wrap-anywhere text-canvas shadow-float"
          >
            {text}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
