import { Switch as Base } from '@base-ui/react/switch';

export interface SwitchProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

/** Toggle that takes effect immediately. */
export function Switch({ label, checked, onChange, disabled }: SwitchProps) {
  return (
    <Base.Root
      aria-label={label}
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled ?? false}
      className="inline-flex h-5.5 w-9.5 shrink-0 cursor-pointer items-center rounded-full bg-strong-line p-0.5 data-checked:bg-accent-fill data-disabled:opacity-50"
    >
      <Base.Thumb className="size-4.5 rounded-full bg-white transition-transform data-checked:translate-x-4" />
    </Base.Root>
  );
}
