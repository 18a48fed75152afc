import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import type { Problems } from './problems.ts';

export interface FormProps {
  label: string;
  /** What is known to be wrong; shown once somebody has tried to send it. */
  wrong: Problems;
  /** Why the service has refused it the last time. */
  error: unknown;
  onSubmit: () => void;
  children: (problems: Problems) => ReactNode;
}

/** A form that is sent when nothing is known to be wrong; otherwise it leads to the first field that is. */
export function Form({ label, wrong, error, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [tries, setTries] = useState(0);
  const refused = problemsOf(error);
  const problems = tries > 0 ? { ...refused, ...wrong } : refused;
  const count = Object.keys(problems).length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each attempt, and when an answer has come
  useEffect(() => {
    if (count > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [tries, error]);
  function submit(event: FormEvent): void {
    event.preventDefault();
    // A dialog inside this form, as React sees it, has forms of its own.
    if (event.target !== form.current) return;
    setTries(tries + 1);
    if (Object.keys(wrong).length === 0) onSubmit();
  }
  return (
    <form ref={form} noValidate aria-label={label} onSubmit={submit}>
      {children(problems)}
    </form>
  );
}

/** What the service has found wrong, in its own words. */
function problemsOf(error: unknown): Problems {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(error.details.map(({ pointer, message }) => [pointer, message]));
}
