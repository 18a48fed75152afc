import { Field, Input } from '../../ui/field.tsx';

export interface NumberFieldProps {
  label: string;
  hint?: string;
  optional?: boolean;
  placeholder?: string;
  /** The number may have a decimal point. */
  isDecimal?: boolean;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** A number as text, so that an invalid entry stays in the field for correction. */
export function NumberField({
  label,
  hint,
  optional = false,
  placeholder,
  isDecimal = false,
  value,
  onChange,
  error,
}: NumberFieldProps) {
  return (
    <Field label={label} optional={optional} hint={hint} error={error}>
      <Input
        inputMode={isDecimal ? 'decimal' : 'numeric'}
        dir="ltr"
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="tabular-nums"
      />
    </Field>
  );
}
