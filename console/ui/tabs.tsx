import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export interface TabsProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  tabs: readonly { value: Value; text: string; count?: number | undefined }[];
  /** Content of the selected tab. */
  children: ReactNode;
  className?: string;
}

export function Tabs<Value extends string>({
  label,
  value,
  onChange,
  tabs,
  children,
  className,
}: TabsProps<Value>) {
  return (
    <Base.Root value={value} onValueChange={(chosen: Value) => onChange(chosen)} className={className}>
      <Base.List
        aria-label={label}
        className="relative flex gap-1 overflow-x-auto border-b border-line [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="h-9 shrink-0 rounded-t-lg px-3 font-medium text-muted -outline-offset-2 hover:text-ink data-active:text-ink"
          >
            {tab.text}
            {tab.count !== undefined && (
              <span className="ms-1.5 text-xs text-muted tabular-nums">{tab.count}</span>
            )}
          </Base.Tab>
        ))}
        <Base.Indicator className="absolute bottom-0 left-(--active-tab-left) h-0.5 w-(--active-tab-width) rounded-full bg-accent transition-[left,width] duration-150" />
      </Base.List>
      <Base.Panel value={value} className="rounded-b-lg -outline-offset-2" tabIndex={-1}>
        {children}
      </Base.Panel>
    </Base.Root>
  );
}
