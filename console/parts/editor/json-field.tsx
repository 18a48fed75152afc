import { useState } from 'react';
import { Field, TextArea } from '../../ui/field.tsx';

export interface JsonFieldProps {
  label: string;
  hint: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  /** What is wrong with what stands in it. */
  check: (text: string) => string | undefined;
}

/** A JSON object as text. It is checked when the field is left, and put in order when it is right. */
export function JsonField({ label, hint, placeholder, value, onChange, error, check }: JsonFieldProps) {
  const [isLeft, setLeft] = useState(false);
  const problem = isLeft ? check(value) : undefined;
  return (
    <Field label={label} optional hint={hint} error={problem ?? error}>
      <TextArea
        className="font-mono text-[13px]"
        dir="ltr"
        spellCheck={false}
        rows={Math.min(16, Math.max(4, value.split('\n').length))}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onFocus={() => setLeft(false)}
        onBlur={() => setLeft(true)}
      />
    </Field>
  );
}
