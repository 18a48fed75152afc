import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import type { FieldProblems } from './problems.ts';

export interface ValidatedFormProps {
  label: string;
  /** Validation errors found in the browser, shown after the first attempt to submit. */
  localProblems: FieldProblems;
  /** Error of the last submission. */
  error: unknown;
  onSubmit: () => void;
  children: (problems: FieldProblems) => ReactNode;
}

/** A form that submits only without local validation errors. Otherwise it focuses the first invalid field. */
export function ValidatedForm({
  label,
  localProblems: wrong,
  error,
  onSubmit,
  children,
}: ValidatedFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [attempts, setAttempts] = useState(0);
  const serviceProblems = problemsOf(error);
  const problems = attempts > 0 ? { ...serviceProblems, ...wrong } : serviceProblems;
  const count = Object.keys(problems).length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each attempt and each response
  useEffect(() => {
    if (count > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [attempts, error]);
  function submit(event: FormEvent): void {
    event.preventDefault();
    // React events also bubble from forms in dialogs rendered inside this form.
    if (event.target !== form.current) return;
    setAttempts(attempts + 1);
    if (Object.keys(wrong).length === 0) onSubmit();
  }
  return (
    <form ref={form} noValidate aria-label={label} onSubmit={submit}>
      {children(problems)}
    </form>
  );
}

/** Validation errors reported by the service, with its messages. */
function problemsOf(error: unknown): FieldProblems {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(error.details.map(({ pointer, message }) => [pointer, message]));
}
