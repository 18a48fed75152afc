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

/** A control with its name, what it is for, and what is wrong with it. */
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
          {/* It may be told from wherever one has gone on to. */}
          <span className="sr-only">{label}: </span>
          {error}
        </Base.Error>
      )}
    </Base.Root>
  );
}

export interface InputProps extends ComponentProps<typeof Base.Control> {
  /** What may well be meant, and what is known of it; anything else may be, too. */
  suggestions?: readonly { value: string; text: string }[];
}

/** A line of text. Inside a Field it has that one's name. */
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

/** Several lines of text. Inside a Field it has that one's name. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <Base.Control
      render={<textarea dir="auto" className={classes(CONTROL, 'min-h-20', className)} {...rest} />}
    />
  );
}
