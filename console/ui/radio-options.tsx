import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';

export interface RadioOptionsProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; text: string; about?: string }[];
  onChange: (value: Value) => void;
}

/** Radio group with descriptions. The label is the accessible name and is not visible. */
export function RadioOptions<Value extends string>({
  label,
  value,
  options,
  onChange,
}: RadioOptionsProps<Value>) {
  return (
    <RadioGroup<Value>
      aria-label={label}
      value={value}
      onValueChange={(chosen) => onChange(chosen)}
      className="flex flex-col gap-1.5"
    >
      {options.map((option) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the radio inside is its control
        <label
          key={option.value}
          className="flex cursor-pointer items-start gap-3 rounded-lg border border-line bg-surface px-3 py-2 has-data-checked:border-accent has-data-checked:bg-accent-soft"
        >
          <Radio.Root
            value={option.value}
            aria-label={option.text}
            className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border border-strong-line bg-surface data-checked:border-accent"
          >
            <Radio.Indicator className="size-2 rounded-full bg-accent data-unchecked:hidden" />
          </Radio.Root>
          <span className="min-w-0">
            <span className="font-medium">{option.text}</span>
            {option.about && <span className="block text-[13px] text-muted">{option.about}</span>}
          </span>
        </label>
      ))}
    </RadioGroup>
  );
}
