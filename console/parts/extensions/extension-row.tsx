import type { ReactNode } from 'react';
import { Checkbox } from '../../ui/checkbox.tsx';

export interface ExtensionRowProps {
  name: string;
  description: string;
  /** Why the extension is not available. Empty: it is. */
  reason: string;
  isSelected: boolean;
  /** Without it the row cannot be changed. */
  onSelect?: ((isSelected: boolean) => void) | undefined;
  /** State and other short facts beside the name. */
  facts: ReactNode;
  /** Further content below the description. */
  children?: ReactNode;
}

/** A server or a skill of an agent or assistant, with a checkbox where it can be changed. */
export function ExtensionRow(props: ExtensionRowProps) {
  const { name, description, reason, isSelected, onSelect, facts, children } = props;
  const title = <span className="font-medium wrap-anywhere">{name}</span>;
  return (
    <li className="flex flex-col gap-1 border-b border-line px-4 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1 basis-40">
          {onSelect ? (
            <Checkbox checked={isSelected} onChange={onSelect}>
              {title}
            </Checkbox>
          ) : (
            title
          )}
        </div>
        {facts}
      </div>
      <div className={onSelect ? 'ps-6.5 text-[13px] text-muted' : 'text-[13px] text-muted'}>
        {description && (
          <p dir="auto" className="wrap-anywhere">
            {description}
          </p>
        )}
        {reason && <p>{reason}</p>}
        {children}
      </div>
    </li>
  );
}
