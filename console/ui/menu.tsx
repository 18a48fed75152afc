import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { classes } from './classes.ts';

/** A button that opens a menu of actions. */
export function Menu({ trigger, children }: { trigger: ReactElement; children: ReactNode }) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="end" className="z-50">
          <Base.Popup className="min-w-44 animate-appear rounded-xl border border-line bg-raised p-1 shadow-float outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export interface MenuItemProps {
  onSelect: () => void;
  icon?: ReactNode;
  danger?: boolean;
  disabled?: boolean;
  /** Why the item is disabled. */
  reason?: string | undefined;
  children: ReactNode;
}

export function MenuItem({ onSelect, icon, danger, disabled, reason, children }: MenuItemProps) {
  return (
    <Base.Item
      onClick={onSelect}
      disabled={disabled ?? false}
      className={classes(
        'flex cursor-pointer items-center gap-2 rounded-lg px-2.5 py-1.5 outline-none select-none data-disabled:opacity-50',
        'data-highlighted:bg-sunken [&_svg]:size-4 [&_svg]:text-muted',
        danger && 'text-bad [&_svg]:text-bad',
      )}
    >
      {icon}
      {reason === undefined ? (
        children
      ) : (
        <span>
          {children}
          <span className="block text-xs">{reason}</span>
        </span>
      )}
    </Base.Item>
  );
}
