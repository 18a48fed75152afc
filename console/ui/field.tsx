import { Field as Base } from '@base-ui/react/field';
import { type ComponentProps, type ReactNode, useId } from 'react';
import { classes } from './classes.ts';

const CONTROL =
  'w-full rounded-lg border border-line bg-surface px-3 py-1.5 hover:border-strong-line ' +
  'aria-invalid:border-bad disabled:cursor-not-allowed disabled:opacity-60';

export interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  optional?: boolean;
  children: ReactNode;
}

/** A form control with its label, hint and error. */
export function Field({ label, hint, error, optional, children }: FieldProps) {
  return (
    <Base.Root className="flex flex-col gap-1" invalid={error !== undefined}>
      <Base.Label className="font-medium">
        {label}
        {optional && <span className="font-normal text-muted"> (optional)</span>}
      </Base.Label>
      {children}
      {hint && <Base.Description className="text-[13px] text-muted">{hint}</Base.Description>}
      {error !== undefined && (
        <Base.Error match={true} className="text-[13px] text-bad" role="alert">
          {/* Names the field, because the error may be announced when another field has the focus. */}
          <span className="sr-only">{label}: </span>
          {error}
        </Base.Error>
      )}
    </Base.Root>
  );
}

export interface InputProps extends ComponentProps<typeof Base.Control> {
  /** Suggested values with descriptions. Other values are allowed. */
  suggestions?: readonly { value: string; text: string }[];
}

/** Single-line text input, labelled by its Field. */
export function Input({ className, suggestions, ...rest }: InputProps) {
  const list = useId();
  return (
    <>
      <Base.Control
        dir="auto"
        className={classes(CONTROL, 'h-9', className as string)}
        list={suggestions && list}
        {...rest}
      />
      {suggestions && (
        <datalist id={list}>
          {suggestions.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

/** Multi-line text input, labelled by its Field. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <Base.Control
      render={<textarea dir="auto" className={classes(CONTROL, 'min-h-20', className)} {...rest} />}
    />
  );
}
