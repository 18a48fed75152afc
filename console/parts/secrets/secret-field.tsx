import type { RefObject } from 'react';
import { Field, Input } from '../../ui/field.tsx';

export interface SecretFieldProps {
  label: string;
  /** The value is only in the DOM element: not in a state, the browser's storage or a cache. */
  input: RefObject<HTMLInputElement | null>;
  error: string | undefined;
  optional?: boolean;
  hint?: string;
  /** Called with the text while the user types. It must not be kept. */
  onChange?: (text: string) => void;
}

export function SecretField({
  label,
  input,
  error,
  optional = false,
  hint = 'Stored encrypted and never shown again. At most 16 KiB.',
  onChange,
}: SecretFieldProps) {
  return (
    <Field label={label} optional={optional} hint={hint} error={error}>
      <Input
        ref={input}
        type="password"
        autoComplete="off"
        spellCheck={false}
        data-1p-ignore
        data-lpignore="true"
        onChange={(event) => onChange?.(event.target.value)}
      />
    </Field>
  );
}

/** Returns the text of a secret field and empties it. */
export function takeSecret(input: RefObject<HTMLInputElement | null>): string {
  const text = input.current?.value ?? '';
  if (input.current) input.current.value = '';
  return text;
}
