import { Field, Input } from '../../ui/field.tsx';

export interface NumberFieldProps {
  label: string;
  hint?: string;
  optional?: boolean;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** A whole number as text, so that an invalid entry stays in the field for correction. */
export function NumberField({
  label,
  hint,
  optional = false,
  placeholder,
  value,
  onChange,
  error,
}: NumberFieldProps) {
  return (
    <Field label={label} optional={optional} hint={hint} error={error}>
      <Input
        inputMode="numeric"
        dir="ltr"
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="tabular-nums"
      />
    </Field>
  );
}
