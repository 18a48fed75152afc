import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { ICON_BUTTON } from './button.tsx';
import { classes } from './classes.ts';

export interface DialogProps {
  open: boolean;
  /** Without it the user cannot dismiss the dialog; its content has to close it. */
  onClose?: (() => void) | undefined;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  /** Initial focus: the title of a dialog for reading. Default: the first focusable element. */
  initialFocus?: RefObject<HTMLElement | null> | 'title';
  children: ReactNode;
}

/** Modal dialog. It traps the focus and restores it on close. */
export function Dialog({ open, onClose, title, description, wide, initialFocus, children }: DialogProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const first = initialFocus === 'title' ? heading : initialFocus;
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={!onClose}
      onOpenChange={(opened) => {
        if (!opened) onClose?.();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Viewport className="fixed inset-0 z-40 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto p-3 sm:p-6">
          <Base.Popup
            {...(first ? { initialFocus: first } : {})}
            className={classes(
              'relative w-full animate-appear rounded-2xl border border-line bg-raised p-5 shadow-float outline-none sm:p-6',
              wide ? 'max-w-3xl' : 'max-w-lg',
            )}
          >
            <Base.Title
              ref={heading}
              tabIndex={-1}
              className={classes('text-base font-semibold outline-none wrap-anywhere', onClose && 'pe-10')}
            >
              {title}
            </Base.Title>
            {description && (
              <Base.Description className="mt-1 text-muted" render={<div />}>
                {description}
              </Base.Description>
            )}
            <div className="mt-4">{children}</div>
            {onClose && (
              // Last in the order, so that the content gets the initial focus. No tooltip, because it would handle Esc.
              <Base.Close aria-label="Close" className={classes(ICON_BUTTON, 'absolute end-3 top-3')}>
                <X aria-hidden />
              </Base.Close>
            )}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** Row of buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>;
}
