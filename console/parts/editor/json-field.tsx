import { useState } from 'react';
import { Field, TextArea } from '../../ui/field.tsx';

export interface JsonFieldProps {
  label: string;
  hint: string;
  placeholder: string;
  required?: boolean;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  /** Returns the validation error of a text. */
  check: (text: string) => string | undefined;
}

/** A JSON value as text. It is validated when the field loses the focus. */
export function JsonField(props: JsonFieldProps) {
  const { label, hint, placeholder, required = false, value, onChange, error, check } = props;
  const [isBlurred, setBlurred] = useState(false);
  const problem = isBlurred ? check(value) : undefined;
  return (
    <Field label={label} optional={!required} hint={hint} error={problem ?? error}>
      <TextArea
        className="font-mono text-[13px]"
        dir="ltr"
        spellCheck={false}
        rows={Math.min(16, Math.max(4, value.split('\n').length))}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onFocus={() => setBlurred(false)}
        onBlur={() => setBlurred(true)}
      />
    </Field>
  );
}
