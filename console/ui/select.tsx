import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronDown } from 'lucide-react';
import { classes } from './classes.ts';

export interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; text: string }[];
  onChange: (value: Value) => void;
  className?: string;
}

/** Select box. The label is the accessible name and is not visible. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  className,
}: SelectProps<Value>) {
  return (
    <Base.Root<Value>
      items={options.map((option) => ({ value: option.value, label: option.text }))}
      value={value}
      onValueChange={(chosen) => {
        if (chosen !== null) onChange(chosen);
      }}
    >
      <Base.Trigger
        aria-label={label}
        className={classes(
          'flex h-9 items-center justify-between gap-2 rounded-lg border border-line bg-surface px-3 hover:bg-sunken data-invalid:border-bad',
          className,
        )}
      >
        <span className="truncate">
          <Base.Value />
        </span>
        <Base.Icon>
          <ChevronDown className="size-4 text-muted" aria-hidden />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={6} alignItemWithTrigger={false} className="z-50">
          <Base.Popup className="max-h-(--available-height) min-w-(--anchor-width) animate-appear overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-float outline-none">
            <Base.List aria-label={label}>
              {options.map((option) => (
                <Base.Item
                  key={option.value}
                  value={option.value}
                  className="flex cursor-pointer items-center justify-between gap-4 rounded-lg px-2.5 py-1.5 outline-none select-none data-highlighted:bg-sunken"
                >
                  <Base.ItemText>{option.text}</Base.ItemText>
                  <Base.ItemIndicator>
                    <Check className="size-4 text-accent" aria-hidden />
                  </Base.ItemIndicator>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
